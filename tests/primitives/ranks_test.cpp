// Every primitive at 1, 3 and 4 ranks on threads, over loopback and Gloo.
#include <tuple>

#include "tests/primitives/threads.hpp"

namespace ccl::test {
namespace {

using std::string_literals::operator""s;

using Parameters = std::tuple<std::string, int, Subject>;

class Primitives : public testing::TestWithParam<Parameters> {};

TEST_P(Primitives, AreRight) {
  const auto& [name, ranks, subject] = GetParam();
  BackendPtr backend;
  try {
    backend = open_backend(name);
  } catch (const Unsupported& e) {
    GTEST_SKIP() << e.what();
  }
  on_threads(*backend, ranks, [&](World& world) { run_cases(world, subject.cases); });
}

std::string name_of(const testing::TestParamInfo<Parameters>& info) {
  const auto& [backend, ranks, subject] = info.param;
  return fmt::format("{}_{}_{}", subject.name, backend, ranks);
}

INSTANTIATE_TEST_SUITE_P(All, Primitives,
                         testing::Combine(testing::Values("loopback"s, "gloo"s),
                                          testing::Values(1, 3, 4),
                                          testing::ValuesIn(all_subjects())),
                         name_of);

}  // namespace
}  // namespace ccl::test
