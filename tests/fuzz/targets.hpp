// What bytes from outside are given to: each function takes any bytes, and must neither crash, nor hang, nor throw what
// is not an Error of the suite.
#pragma once

#include <span>
#include <string_view>

namespace ccl_tests::fuzz {

struct Target {
  std::string_view name;  // of its folder in corpus/
  void (*run)(std::string_view bytes);
};
std::span<const Target> targets();

// Throws std::out_of_range for a name that no target has.
const Target& target(std::string_view name);

}  // namespace ccl_tests::fuzz
