#include "src/report/text.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace ccl_tests {

std::string valid_utf8(std::string_view text) {
  using nlohmann::json;
  const std::string quoted =
      json(std::string(text)).dump(-1, ' ', false, json::error_handler_t::replace);
  return json::parse(quoted).get<std::string>();
}

std::string single_line(std::string_view text) {
  std::string line = valid_utf8(text);
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }, ' ');
  return line;
}

}  // namespace ccl_tests
