// Flags that name files.
#pragma once

#include <gtest/gtest.h>

#include "src/options/flag.hpp"

namespace ccl_tests::test {

// Else nobody asks who writes a file, and a rank that is given it alone is ignored in silence.
inline void expect_uses_of_files(const FlagSet& set) {
  for (const Flag& flag : set.all()) {
    const bool names_file = flag.value.starts_with("FILE") || flag.value == "FOLDER" ||
                            flag.names.front() == "--backend";
    EXPECT_EQ(names_file, flag.file_use != FileUse::none) << flag.names.front();
    EXPECT_EQ(flag.file_use == FileUse::written, flag.written != nullptr) << flag.names.front();
  }
}

// Expects it of a tool whose command line is Arguments.
template <class Arguments>
void expect_uses_of_files() {
  Arguments arguments;
  FlagSet set;
  declare_flags(set, arguments);
  EXPECT_FALSE(set.all().empty());
  expect_uses_of_files(set);
}

}  // namespace ccl_tests::test
