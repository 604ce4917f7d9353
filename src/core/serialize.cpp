#include "src/core/serialize.hpp"

namespace ccl_tests {

std::string packed(const nlohmann::json& value) {
  std::string bytes;
  nlohmann::json::to_msgpack(value, bytes);
  return bytes;
}

nlohmann::json unpacked(std::string_view bytes) {
  return nlohmann::json::from_msgpack(bytes.begin(), bytes.end());
}

}  // namespace ccl_tests
