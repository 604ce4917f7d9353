#include "src/bootstrap/store_server.hpp"

#include <algorithm>
#include <array>
#include <asio/buffer.hpp>
#include <asio/post.hpp>
#include <asio/steady_timer.hpp>
#include <asio/write.hpp>
#include <charconv>
#include <limits>
#include <set>
#include <thread>
#include <unordered_map>

#include "src/bootstrap/net.hpp"
#include "src/bootstrap/store_request.hpp"
#include "src/core/error.hpp"

namespace ccl {
namespace {

class Session;

// Keys and values, and the sessions that wait for keys.
struct Store {
  bool has(const std::vector<std::string>& keys) const {
    return std::all_of(keys.begin(), keys.end(),
                       [&](const std::string& key) { return values.count(key) != 0; });
  }
  void wake();

  std::unordered_map<std::string, std::string> values;
  std::set<std::shared_ptr<Session>> sessions;
};

std::int64_t as_number(const std::string& text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) throw Error("ADD to what is no number");
  return value;
}

class Session : public std::enable_shared_from_this<Session> {
 public:
  Session(asio::ip::tcp::socket socket, Store& store) : socket_(std::move(socket)), store_(store) {}

  void read() {
    socket_.async_read_some(asio::buffer(chunk_),
                            [self = shared_from_this()](std::error_code error, std::size_t bytes) {
                              if (error) return self->close();
                              self->take(bytes);
                            });
  }

  void wake_if_ready() {
    if (!waiting_ || !store_.has(wanted_)) return;
    waiting_ = false;
    answer<std::uint8_t>(0);
  }

  void close() {
    std::error_code ignored;
    socket_.close(ignored);
    store_.sessions.erase(shared_from_this());
  }

 private:
  void take(std::size_t bytes) {
    in_.append(chunk_.data(), bytes);
    std::string_view rest = in_;
    try {
      while (const std::optional<StoreRequest> request = take_request(rest)) serve(*request);
    } catch (const Error&) {
      return close();
    }
    in_.erase(0, in_.size() - rest.size());
    if (out_.size() > 4 * store_blob_limit) return close();  // asks, but does not read the answers
    read();
  }

  void serve(const StoreRequest& request);
  std::int64_t add(const std::string& key, std::int64_t amount);
  const std::string& compare_set(const StoreRequest& request);

  template <class T>
  void answer(T value) {
    put(out_, value);
    write();
  }
  void answer_blob(std::string_view bytes) {
    put_blob(out_, bytes);
    write();
  }

  void write() {
    if (writing_ || out_.empty()) return;
    writing_ = true;
    under_way_ = std::move(out_);
    out_.clear();
    asio::async_write(socket_, asio::buffer(under_way_),
                      [self = shared_from_this()](std::error_code error, std::size_t) {
                        self->writing_ = false;
                        if (error) return self->close();
                        self->write();
                      });
  }

  asio::ip::tcp::socket socket_;
  Store& store_;
  std::array<char, 16384> chunk_{};
  std::string in_, out_, under_way_;
  bool valid_ = false, waiting_ = false, writing_ = false;
  std::vector<std::string> wanted_;
};

void Store::wake() {
  for (const std::shared_ptr<Session>& session : sessions) session->wake_if_ready();
}

std::int64_t Session::add(const std::string& key, std::int64_t amount) {
  const auto found = store_.values.find(key);
  const std::int64_t before = found == store_.values.end() ? 0 : as_number(found->second);
  std::int64_t sum = 0;
  if (__builtin_add_overflow(before, amount, &sum)) throw Error("ADD overflows");
  store_.values[key] = std::to_string(sum);
  return sum;
}

// The answer for a missing key that was expected to have a value is the expected value: PyTorch's.
const std::string& Session::compare_set(const StoreRequest& request) {
  const auto found = store_.values.find(request.keys[0]);
  if (found == store_.values.end()) {
    if (!request.value.empty()) return request.value;
    return store_.values[request.keys[0]] = request.desired;
  }
  if (found->second == request.value) found->second = request.desired;
  return found->second;
}

void Session::serve(const StoreRequest& request) {
  if (!valid_ && request.op != StoreOp::validate) throw Error("VALIDATE must come first");
  switch (request.op) {
    case StoreOp::validate:
      if (request.number != store_magic) throw Error("wrong magic");
      valid_ = true;
      return;
    case StoreOp::set: store_.values[request.keys[0]] = request.value; return store_.wake();
    case StoreOp::compare_set: answer_blob(compare_set(request)); return store_.wake();
    case StoreOp::get: {
      const auto found = store_.values.find(request.keys[0]);
      if (found == store_.values.end()) throw Error("GET of a missing key");
      return answer_blob(found->second);
    }
    case StoreOp::add: answer(add(request.keys[0], request.amount)); return store_.wake();
    case StoreOp::check: return answer<std::uint8_t>(store_.has(request.keys) ? 0 : 1);
    case StoreOp::wait:
      waiting_ = true;
      wanted_ = request.keys;
      return wake_if_ready();
    case StoreOp::num_keys: return answer(static_cast<std::int64_t>(store_.values.size()));
    case StoreOp::delete_key:
      return answer(static_cast<std::int64_t>(store_.values.erase(request.keys[0])));
    case StoreOp::append: {
      std::string& value = store_.values[request.keys[0]];
      if (value.size() + request.value.size() > store_blob_limit) throw Error("value too long");
      value += request.value;
      return store_.wake();
    }
    case StoreOp::cancel_wait: waiting_ = false; return answer<std::uint8_t>(1);
    case StoreOp::ping: return answer(request.number);
  }
}

}  // namespace

class StoreServer::Impl {
 public:
  Impl(int port, const std::string& address)
      : acceptor_(listen_on(io_, port, address)), port_(acceptor_.local_endpoint().port()) {
    accept();
    thread_ = std::thread([this] { io_.run(); });
  }

  ~Impl() {
    io_.stop();
    thread_.join();
    store_.sessions.clear();  // pending handlers end with io_
  }

  int port() const { return port_; }

 private:
  void accept() {
    acceptor_.async_accept([this](std::error_code error, asio::ip::tcp::socket socket) {
      if (error) return accept_later();
      std::error_code ignored;
      socket.set_option(asio::ip::tcp::no_delay(true), ignored);
      const auto session = std::make_shared<Session>(std::move(socket), store_);
      store_.sessions.insert(session);
      session->read();
      accept();
    });
  }

  void accept_later() {  // out of descriptors: some will be given back
    pause_.expires_after(std::chrono::milliseconds(100));
    pause_.async_wait([this](std::error_code error) {
      if (!error) accept();
    });
  }

  Store store_;  // outlives the handlers that io_ holds
  asio::io_context io_;
  asio::ip::tcp::acceptor acceptor_;
  asio::steady_timer pause_{io_};
  int port_;
  std::thread thread_;
};

StoreServer::StoreServer(int port, const std::string& address)
    : impl_(std::make_unique<Impl>(port, address)) {}
StoreServer::~StoreServer() = default;
int StoreServer::port() const { return impl_->port(); }

}  // namespace ccl
