#include "src/bootstrap/node_list.hpp"

namespace ccl_tests {

std::string first_host(const std::string& node_list) {
  std::string host;
  bool in_brackets = false;
  bool past_first = false;  // within brackets: behind the first of the alternatives
  for (const char c : node_list) {
    if (!in_brackets && c == ',') break;
    if (c == '[' && !in_brackets) {
      in_brackets = true;
      past_first = false;
    } else if (c == ']' && in_brackets) {
      in_brackets = false;
    } else if (in_brackets && (c == '-' || c == ',')) {
      past_first = true;
    } else if (!in_brackets || !past_first) {
      host += c;
    }
  }
  return in_brackets ? std::string() : host;
}

}  // namespace ccl_tests
