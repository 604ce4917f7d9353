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

std::string xml_text(std::string_view text) {
  std::string out;
  for (const char c : single_line(text)) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\'': out += "&#39;"; break;
      default: out += c;
    }
  }
  // The two characters of UTF-8 that XML does not allow, U+FFFE and U+FFFF, become U+FFFD.
  for (const std::string_view forbidden : {"\xef\xbf\xbe", "\xef\xbf\xbf"})
    for (std::size_t at = 0; (at = out.find(forbidden, at)) != std::string::npos;)
      out.replace(at, forbidden.size(), "\xef\xbf\xbd");
  return out;
}

}  // namespace ccl_tests
