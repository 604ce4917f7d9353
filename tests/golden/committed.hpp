// Texts that are committed, so that a change of what users see is read.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

namespace ccl_tests::test {

// Fails if `text` is not what the file holds. With CCL_UPDATE_GOLDEN=1 in the environment, after an intended change: writes a file
// that differs, and the test counts as skipped and names it.
inline void expect_committed(const std::string& path, const std::string& text) {
  std::ostringstream committed;
  committed << std::ifstream(path, std::ios::binary).rdbuf();
  if (std::getenv("CCL_UPDATE_GOLDEN") == nullptr) {
    EXPECT_EQ(text, committed.str()) << "in " << path;
  } else if (text != committed.str()) {
    std::ofstream(path, std::ios::binary) << text;
    GTEST_SKIP() << "rewrote " << path;
  }
}

}  // namespace ccl_tests::test
