// Tests over a backend, skipped where this build lacks it.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <vector>

#include "src/backends/registry.hpp"
#include "src/core/error.hpp"

namespace ccl_tests::test {

// For SetUp: a test that is skipped there does not run.
inline void open_or_skip(const std::string& name, BackendPtr& backend) {
  try {
    backend = open_backend(name);
  } catch (const Unsupported& e) {
    GTEST_SKIP() << e.what();
  }
}

// INSTANTIATE_TEST_SUITE_P(Backends, X, every_backend);
class OnBackend : public testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  void SetUp() override { open_or_skip(std::get<0>(GetParam()), backend_); }
  static int ranks() { return std::get<1>(GetParam()); }
  BackendPtr backend_;
};
// Gloo, and the Gloos of checkouts that were built.
inline const std::vector<std::string> tested_gloos = [] {
  std::vector<std::string> names = dated_gloos();
  names.insert(names.begin(), "gloo");
  return names;
}();
inline const auto tested_backends = testing::ValuesIn([] {
  std::vector<std::string> names = tested_gloos;
  names.insert(names.begin(), "loopback");
  return names;
}());
inline const auto every_gloo = testing::ValuesIn(tested_gloos);
inline const auto every_backend = testing::Combine(tested_backends, testing::Values(1, 3, 4));

// INSTANTIATE_TEST_SUITE_P(Gloos, X, every_gloo);
class OnGloo : public testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { open_or_skip(GetParam(), gloo_); }
  BackendPtr gloo_;
};

}  // namespace ccl_tests::test
