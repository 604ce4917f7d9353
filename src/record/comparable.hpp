// Which runs measure the same thing.
#pragma once

#include <string>

#include "src/record/record.hpp"

namespace ccl_tests {

// A run's header and where it comes from, in messages: a file, or "base".
struct NamedHeader {
  std::string name;
  const RunInfo& run;
};

// Throws UsageError if times of the two runs say nothing about each other: another program, mode,
// backend, number of ranks, clock, kind of time or use of caches. The message names the field and
// both values.
void check_same_measurement(const NamedHeader& base, const NamedHeader& head);

// Throws UsageError that names the field if it is not the same in both.
void check_same(const char* field, const std::string& in_base, const std::string& base,
                const std::string& in_head, const std::string& head);

}  // namespace ccl_tests
