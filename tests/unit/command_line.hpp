// Command lines of all_reduce_perf, and what is read from them.
#pragma once

#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "collectives/collectives.hpp"
#include "src/core/error.hpp"
#include "src/options/options.hpp"

namespace ccl_tests {

using Variables = std::map<std::string, std::string>;

inline Parsed parse(const std::vector<std::string>& arguments, const Variables& variables = {}) {
  return parse_options(
      collectives::all_reduce, arguments, [&](const char* name) -> std::optional<std::string> {
        const auto found = variables.find(name);
        return found == variables.end() ? std::nullopt : std::optional(found->second);
      });
}

inline std::optional<std::string> nothing_set(const char* /*variable*/) { return std::nullopt; }

inline Options read(const std::vector<std::string>& arguments) { return parse(arguments).options; }

// The message of the UsageError.
inline std::string refusal(const std::vector<std::string>& arguments,
                           const Variables& variables = {}) {
  try {
    parse(arguments, variables);
  } catch (const UsageError& e) {
    EXPECT_EQ(e.code(), Exit::usage);
    return e.what();
  }
  return "(accepted)";
}

}  // namespace ccl_tests
