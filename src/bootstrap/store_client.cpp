#include "src/bootstrap/store_client.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <asio/buffer.hpp>
#include <asio/read.hpp>
#include <asio/write.hpp>
#include <thread>

#include "src/bootstrap/control_frame.hpp"
#include "src/core/error.hpp"
#include "src/core/interfaces.hpp"

namespace ccl_tests {
namespace {

std::string request(StoreOp op) { return {static_cast<char>(op)}; }

std::string request(StoreOp op, std::string_view key) {
  std::string out = request(op);
  put_blob(out, fmt::format("/{}", key));
  return out;
}

}  // namespace

StoreClient::StoreClient(const std::string& host, int port, TimePoint deadline)
    : name_(address_text(host, port)) {
  using namespace std::chrono_literals;
  UnknownName unknown;
  for (std::chrono::milliseconds pause = 10ms;; pause = std::min(pause * 2, 500ms)) {
    try {
      connect(host, port, deadline);
      return;
    } catch (const std::runtime_error& error) {  // of the system, of this class
      const auto* const of_system = dynamic_cast<const std::system_error*>(&error);
      unknown.answered(host, of_system != nullptr ? of_system->code() : std::error_code());
      if (unknown.suspected()) pause = 1s;
      if (std::chrono::steady_clock::now() + pause >= deadline)
        throw Timeout(fmt::format(
            "nobody answers at {}, neither rank 0 nor a store of PyTorch 2.2 or later: {}", name_,
            error.what()));
    }
    std::this_thread::sleep_for(pause);
  }
}

// Tries once.
void StoreClient::connect(const std::string& host, int port, TimePoint deadline) {
  const Endpoints addresses = resolve(host, port, deadline);
  const TimePoint attempt = std::min(deadline, deadline_in(10));
  socket_ = connect_once(io_, addresses, attempt);
  const auto nonce = static_cast<std::uint32_t>(::getpid());
  std::string hello = request(StoreOp::validate);
  put(hello, store_magic);
  hello += request(StoreOp::ping);
  put(hello, nonce);
  send(hello, attempt);
  if (read<std::uint32_t>(attempt) != nonce) throw Error("an unknown protocol");
}

void StoreClient::send(const std::string& request, TimePoint deadline) {
  require_success(run_operation(
      io_, deadline, [&](auto done) { asio::async_write(socket_, asio::buffer(request), done); },
      [&] { socket_.close(); }));
}

std::error_code StoreClient::try_read(void* data, std::size_t bytes, TimePoint deadline) {
  return run_operation(
      io_, deadline, [&](auto done) { asio::async_read(socket_, asio::buffer(data, bytes), done); },
      [&] { socket_.cancel(); });
}

void StoreClient::require_success(std::error_code error) const {
  if (error == asio::error::timed_out)
    throw Timeout(fmt::format("the store at {} does not answer", name_));
  if (error) throw Error(fmt::format("the store at {}: {}", name_, error.message()));
}

// Takes back a wait that has reached its deadline, so that the connection stays usable.
void StoreClient::wait(std::string_view key, TimePoint deadline) {
  std::string out = request(StoreOp::wait);
  put<std::uint64_t>(out, 1);
  put_blob(out, fmt::format("/{}", key));
  send(out, deadline);
  std::uint8_t answer = 0;
  const std::error_code error = try_read(&answer, 1, deadline);
  if (error != asio::error::timed_out) return require_success(error);

  const TimePoint soon = deadline_in(5);
  send(request(StoreOp::cancel_wait), soon);
  while (read<std::uint8_t>(soon) != 1) {  // a late 0 may come first
  }
  throw Timeout(fmt::format("nobody has set the key {} in the store at {}", key, name_));
}

void StoreClient::set(std::string_view key, std::string_view value, TimePoint deadline) {
  std::string out = request(StoreOp::set, key);
  put_blob(out, value);
  send(out, deadline);
}

std::string StoreClient::get(std::string_view key, TimePoint deadline) {
  constexpr std::size_t limit = 8 << 20;
  wait(key, deadline);
  send(request(StoreOp::get, key), deadline);
  const auto size = read<std::uint64_t>(deadline);
  if (size > limit)
    throw Error(fmt::format("the store at {} sent a value of {} bytes", name_, size));
  std::string value(size, '\0');
  require_success(try_read(value.data(), value.size(), deadline));
  return value;
}

bool StoreClient::remove(std::string_view key, TimePoint deadline) {
  send(request(StoreOp::delete_key, key), deadline);
  return read<std::int64_t>(deadline) > 0;
}

std::string StoreClient::local_address() const {
  return numeric_address(socket_.local_endpoint().data());
}

}  // namespace ccl_tests
