#include "src/bootstrap/store_client.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <asio/buffer.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <thread>

#include "src/bootstrap/net.hpp"
#include "src/bootstrap/store_protocol.hpp"
#include "src/core/error.hpp"

namespace ccl_tests {

struct StoreClient::Connection {
  Connection(const std::string& host, int port, const Endpoints& addresses, TimePoint deadline)
      : name(address_text(host, port)), socket(connect_once(io, addresses, deadline)) {}

  void send(const std::string& request, TimePoint deadline) {
    finish(run_operation(
        io, deadline, [&](auto done) { asio::async_write(socket, asio::buffer(request), done); },
        [&] { socket.close(); }));
  }

  std::error_code try_read(void* data, std::size_t bytes, TimePoint deadline) {
    return run_operation(
        io, deadline, [&](auto done) { asio::async_read(socket, asio::buffer(data, bytes), done); },
        [&] { socket.cancel(); });
  }

  template <class T>
  T read(TimePoint deadline) {
    T value{};
    finish(try_read(&value, sizeof(T), deadline));
    return value;
  }

  std::string read_blob(TimePoint deadline) {
    const auto size = read<std::uint64_t>(deadline);
    if (size > store_blob_limit) {
      throw Error(fmt::format("the store at {} sent a value of {} bytes", name, size));
    }
    std::string blob(size, '\0');
    finish(try_read(blob.data(), blob.size(), deadline));
    return blob;
  }

  void wait(const std::string& key, TimePoint deadline);

  void finish(std::error_code error) const {
    if (error == asio::error::timed_out) {
      throw Timeout(fmt::format("the store at {} does not answer", name));
    }
    if (error) throw Error(fmt::format("the store at {}: {}", name, error.message()));
  }

  std::string name;
  asio::io_context io;
  asio::ip::tcp::socket socket;
};

namespace {

std::string request(StoreOp op) {
  std::string out;
  put(out, op);
  return out;
}

std::string request(StoreOp op, std::string_view key) {
  std::string out = request(op);
  put<std::uint64_t>(out, key.size() + 1);
  out += '/';
  out += key;
  return out;
}

}  // namespace

// A wait that has reached its deadline is taken back, so that the connection stays usable.
void StoreClient::Connection::wait(const std::string& key, TimePoint deadline) {
  std::string out = request(StoreOp::wait);
  put<std::uint64_t>(out, 1);
  out += request(StoreOp::wait, key).substr(1);
  send(out, deadline);
  std::uint8_t answer = 0;
  const std::error_code error = try_read(&answer, 1, deadline);
  if (error != asio::error::timed_out) return finish(error);

  const TimePoint soon = deadline_in(5);
  send(request(StoreOp::cancel_wait), soon);
  while (read<std::uint8_t>(soon) != 1) {  // a late 0 may come first
  }
  throw Timeout(fmt::format("nobody has set the key {} in the store at {}", key, name));
}

StoreClient::StoreClient(const std::string& host, int port, TimePoint deadline) {
  using namespace std::chrono_literals;
  auto pause = std::chrono::milliseconds(10);
  UnknownName unknown;
  while (true) {
    try {
      const Endpoints addresses = resolve(host, port, deadline);
      const TimePoint attempt = std::min(deadline, deadline_in(10));
      auto connection = std::make_unique<Connection>(host, port, addresses, attempt);
      std::string hello = request(StoreOp::validate);
      put(hello, store_magic);
      const auto nonce = static_cast<std::uint32_t>(::getpid());
      hello += request(StoreOp::ping);
      put(hello, nonce);
      connection->send(hello, attempt);
      if (connection->read<std::uint32_t>(attempt) != nonce) throw Error("an unknown protocol");
      connection_ = std::move(connection);
      return;
    } catch (const std::runtime_error& error) {  // of the system, of Connection
      const auto* const of_system = dynamic_cast<const std::system_error*>(&error);
      unknown.answered(host, of_system != nullptr ? of_system->code() : std::error_code());
      if (unknown.suspected()) pause = 1s;
      if (std::chrono::steady_clock::now() + pause >= deadline) {
        throw Timeout(fmt::format(
            "nobody answers at {}, neither rank 0 nor a store of PyTorch 2.2 or later: {}",
            address_text(host, port), error.what()));
      }
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(500));
  }
}

StoreClient::~StoreClient() = default;

void StoreClient::set(std::string_view key, std::string_view value, TimePoint deadline) {
  std::string out = request(StoreOp::set, key);
  put_blob(out, value);
  connection_->send(out, deadline);
}

std::string StoreClient::get(std::string_view key, TimePoint deadline) {
  connection_->wait(std::string(key), deadline);
  connection_->send(request(StoreOp::get, key), deadline);
  return connection_->read_blob(deadline);
}

std::int64_t StoreClient::add(std::string_view key, std::int64_t amount, TimePoint deadline) {
  std::string out = request(StoreOp::add, key);
  put(out, amount);
  connection_->send(out, deadline);
  return connection_->read<std::int64_t>(deadline);
}

bool StoreClient::remove(std::string_view key, TimePoint deadline) {
  connection_->send(request(StoreOp::delete_key, key), deadline);
  return connection_->read<std::int64_t>(deadline) > 0;
}

std::string StoreClient::local_address() const {
  const asio::ip::address address = connection_->socket.local_endpoint().address();
  if (address.is_v6() && address.to_v6().is_v4_mapped()) {
    return asio::ip::make_address_v4(asio::ip::v4_mapped, address.to_v6()).to_string();
  }
  return address.to_string();
}

bool StoreClient::local_address_is_loopback() const {
  return asio::ip::make_address(local_address()).is_loopback();
}

}  // namespace ccl_tests
