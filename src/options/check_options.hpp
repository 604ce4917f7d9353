// What is verified.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "src/inject/fault.hpp"

namespace ccl_tests {

struct CheckOptions {
  int calls = 1;     // verified before timing; 0: nothing is verified
  bool all = false;  // every call is verified, untimed and timed ones too; `calls` as without it
  std::uint64_t seed = 1;
  std::optional<Fault> inject;  // what is done to results on purpose
  bool reproducible = false;    // repeat reductions whose bits depend on the order of additions
  std::string digests;          // the file in which their digests are kept; empty: none
  bool self_check = false;      // of the program's specification, instead of a run
};

}  // namespace ccl_tests
