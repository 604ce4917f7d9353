#include "src/bootstrap/store_server.hpp"

#include <asio/steady_timer.hpp>
#include <thread>

#include "src/bootstrap/net.hpp"
#include "src/bootstrap/store_session.hpp"

namespace ccl_tests {

class StoreServer::Impl {
 public:
  Impl(int port, const std::string& address, ProbationLimits strangers)
      : acceptor_(listen_on(io_, port, address)),
        probation_(io_, strangers),
        port_(acceptor_.local_endpoint().port()) {
    accept();
    thread_ = std::thread([this] { io_.run(); });
  }

  ~Impl() {
    io_.stop();
    thread_.join();
    keys_.sessions.clear();  // pending handlers end with io_
  }

  int port() const { return port_; }

 private:
  void accept() {
    acceptor_.async_accept([this](std::error_code error, asio::ip::tcp::socket socket) {
      if (error) return accept_later();
      std::error_code ignored;
      socket.set_option(asio::ip::tcp::no_delay(true), ignored);
      std::make_shared<StoreSession>(std::move(socket), keys_, probation_)->start();
      accept();
    });
  }

  void accept_later() {  // out of descriptors
    probation_.dismiss_oldest("its descriptor is needed");
    pause_.expires_after(std::chrono::milliseconds(20));
    pause_.async_wait([this](std::error_code error) {
      if (!error) accept();
    });
  }

  StoreKeys keys_;  // outlives the handlers that io_ holds
  asio::io_context io_;
  asio::ip::tcp::acceptor acceptor_;
  asio::steady_timer pause_{io_};
  Probation probation_;
  int port_;
  std::thread thread_;
};

StoreServer::StoreServer(int port, const std::string& address, ProbationLimits strangers)
    : impl_(std::make_unique<Impl>(port, address, strangers)) {}
StoreServer::~StoreServer() = default;
int StoreServer::port() const { return impl_->port(); }

}  // namespace ccl_tests
