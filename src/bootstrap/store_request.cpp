#include "src/bootstrap/store_request.hpp"

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

struct Incomplete {};

// Reads front to back; throws Incomplete at the end of what has come.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : rest_(bytes) {}
  std::string_view rest() const { return rest_; }

  template <class T>
  T number() {
    T value{};
    const std::string_view bytes = take(sizeof(T));
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }

  std::string blob(std::size_t limit) {
    const auto size = number<std::uint64_t>();
    if (size > limit) throw Error("a key or value beyond the limit");
    return std::string(take(size));
  }

  std::string key() { return blob(store_key_limit); }
  std::string value() { return blob(store_blob_limit); }

  // Keys, and a value after each where `values` is given.
  std::vector<std::string> keys(std::vector<std::string>* values = nullptr) {
    const auto count = number<std::uint64_t>();
    if (count > store_keys_limit) throw Error("too many keys");
    std::vector<std::string> keys;
    std::size_t bytes = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
      keys.push_back(key());
      bytes += keys.back().size();
      if (values != nullptr) bytes += values->emplace_back(value()).size();
      if (bytes > 2 * store_blob_limit) throw Error("too many keys");
    }
    return keys;
  }

 private:
  std::string_view take(std::size_t bytes) {
    if (rest_.size() < bytes) throw Incomplete{};
    const std::string_view front = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return front;
  }

  std::string_view rest_;
};

StoreRequest read_request(Cursor& in) {
  StoreRequest request;
  const auto op = in.number<std::uint8_t>();
  request.op = static_cast<StoreOp>(op);
  switch (request.op) {
    case StoreOp::validate:
    case StoreOp::ping: request.number = in.number<std::uint32_t>(); return request;
    case StoreOp::set:
    case StoreOp::append:
      request.keys = {in.key()};
      request.value = in.value();
      return request;
    case StoreOp::compare_set:
      request.keys = {in.key()};
      request.value = in.value();
      request.desired = in.value();
      return request;
    case StoreOp::get:
    case StoreOp::delete_key: request.keys = {in.key()}; return request;
    case StoreOp::add:
      request.keys = {in.key()};
      request.amount = in.number<std::int64_t>();
      return request;
    case StoreOp::multi_set: request.keys = in.keys(&request.values); return request;
    case StoreOp::multi_get:
    case StoreOp::check:
    case StoreOp::wait: request.keys = in.keys(); return request;
    case StoreOp::num_keys:
    case StoreOp::cancel_wait: return request;
  }
  throw Error("an unknown request");
}

}  // namespace

std::optional<StoreRequest> take_request(std::string_view& bytes) {
  Cursor cursor(bytes);
  try {
    StoreRequest request = read_request(cursor);
    bytes = cursor.rest();
    return request;
  } catch (const Incomplete&) {
    return std::nullopt;
  }
}

}  // namespace ccl_tests
