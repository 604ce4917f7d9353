#include "src/bootstrap/store_session.hpp"

#include <asio/buffer.hpp>
#include <asio/write.hpp>
#include <charconv>
#include <utility>

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

std::int64_t as_number(const std::string& text) {
  std::int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end) throw Error("ADD to what is no number");
  return value;
}

}  // namespace

void StoreKeys::set(const std::string& key, std::string value) {
  values[key] = std::move(value);
  changed(key);
}

void StoreKeys::changed(const std::string& key) {
  const auto found = waiting.extract(key);
  if (found.empty()) return;
  for (StoreSession* session : found.mapped()) session->wake();
}

const std::string* StoreKeys::first_missing(const std::vector<std::string>& keys) const {
  for (const std::string& key : keys) {
    if (values.count(key) == 0) return &key;
  }
  return nullptr;
}

void StoreSession::start() {
  keys_.sessions.insert(shared_from_this());
  std::error_code ignored;
  socket_.non_blocking(true, ignored);
  set_complete(false);
  read();
}

void StoreSession::read() {
  socket_.async_wait(asio::socket_base::wait_read,
                     [self = shared_from_this()](std::error_code error) {
                       if (error || !self->socket_.is_open()) return self->close();
                       self->take();
                     });
}

void StoreSession::take() {
  std::error_code error;
  const std::size_t bytes = socket_.read_some(asio::buffer(keys_.chunk), error);
  if (error == asio::error::would_block) return read();
  if (error) return close();
  in_.append(keys_.chunk.data(), bytes);
  std::string_view rest = in_;
  try {
    while (const std::optional<StoreRequest> request = take_request(rest)) serve(*request);
  } catch (const Error&) {
    return close();
  }
  in_.erase(0, in_.size() - rest.size());
  if (out_.size() > 4 * store_blob_limit) return close();  // asks, but does not read the answers
  set_complete(valid_ && in_.empty());
  read();
}

void StoreSession::set_complete(bool complete) {
  if (complete && on_probation_) {
    probation_.passed(*std::exchange(on_probation_, std::nullopt));
  } else if (!complete && !on_probation_) {
    on_probation_ = probation_.add([this](const std::string&) {
      on_probation_.reset();
      close();
    });
  }
}

void StoreSession::wait() {
  const std::string* const missing = keys_.first_missing(wanted_);
  if (missing == nullptr) return answer<std::uint8_t>(0);
  keys_.waiting[*missing].insert(this);
  waits_under_ = *missing;
}

void StoreSession::wake() {
  waits_under_.reset();
  wait();
}

void StoreSession::stop_waiting() {
  if (!waits_under_) return;
  const auto found = keys_.waiting.find(*waits_under_);
  found->second.erase(this);
  if (found->second.empty()) keys_.waiting.erase(found);
  waits_under_.reset();
}

void StoreSession::close() {
  std::error_code ignored;
  socket_.close(ignored);
  stop_waiting();
  set_complete(true);
  keys_.sessions.erase(shared_from_this());
}

std::int64_t StoreSession::add(const std::string& key, std::int64_t amount) {
  const auto found = keys_.values.find(key);
  const std::int64_t before = found == keys_.values.end() ? 0 : as_number(found->second);
  std::int64_t sum = 0;
  if (__builtin_add_overflow(before, amount, &sum)) throw Error("ADD overflows");
  keys_.set(key, std::to_string(sum));
  return sum;
}

// The answer for a missing key that was expected to have a value is the expected value: PyTorch's.
const std::string& StoreSession::compare_set(const StoreRequest& request) {
  const std::string& key = request.keys[0];
  const auto found = keys_.values.find(key);
  if (found == keys_.values.end() && !request.value.empty()) return request.value;
  if (found == keys_.values.end() || found->second == request.value) {
    keys_.set(key, request.desired);
  }
  return keys_.values[key];
}

const std::string& StoreSession::value_of(const std::string& key) const {
  const auto found = keys_.values.find(key);
  if (found == keys_.values.end()) throw Error("GET of a missing key");
  return found->second;
}

void StoreSession::serve(const StoreRequest& request) {
  if (!valid_ && request.op != StoreOp::validate) throw Error("VALIDATE must come first");
  switch (request.op) {
    case StoreOp::validate:
      if (request.number != store_magic) throw Error("wrong magic");
      valid_ = true;
      return;
    case StoreOp::set: return keys_.set(request.keys[0], request.value);
    case StoreOp::compare_set: return answer_blob(compare_set(request));
    case StoreOp::get: return answer_blob(value_of(request.keys[0]));
    case StoreOp::add: return answer(add(request.keys[0], request.amount));
    case StoreOp::check:
      return answer<std::uint8_t>(keys_.first_missing(request.keys) == nullptr ? 0 : 1);
    case StoreOp::wait:
      stop_waiting();
      wanted_ = request.keys;
      return wait();
    case StoreOp::num_keys: return answer(static_cast<std::int64_t>(keys_.values.size()));
    case StoreOp::delete_key:
      return answer(static_cast<std::int64_t>(keys_.values.erase(request.keys[0])));
    case StoreOp::append: {
      std::string& value = keys_.values[request.keys[0]];
      if (value.size() + request.value.size() > store_blob_limit) throw Error("value too long");
      value += request.value;
      return keys_.changed(request.keys[0]);
    }
    case StoreOp::multi_get:
      for (const std::string& key : request.keys) put_blob(out_, value_of(key));
      return write();
    case StoreOp::multi_set:
      for (std::size_t i = 0; i < request.keys.size(); ++i) {
        keys_.set(request.keys[i], request.values[i]);
      }
      return;
    case StoreOp::cancel_wait: stop_waiting(); return answer<std::uint8_t>(1);
    case StoreOp::ping: return answer(request.number);
  }
}

void StoreSession::write() {
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

}  // namespace ccl_tests
