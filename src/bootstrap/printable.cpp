#include "src/bootstrap/printable.hpp"

namespace ccl_tests {

std::string printable(std::string_view text) {
  std::string out(text);
  unsigned char before = 0;
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_c1 = before == 0xc2 && byte >= 0x80 && byte <= 0x9f;  // U+0080 to U+009F in UTF-8
    if (byte < 0x20 || byte == 0x7f || is_c1) c = '?';
    before = byte;
  }
  return out;
}

}  // namespace ccl_tests
