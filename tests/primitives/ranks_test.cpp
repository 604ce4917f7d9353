// Every primitive at 1, 3 and 4 ranks on threads, over loopback and Gloo.
#include <algorithm>
#include <tuple>

#include "src/primitives/agreement.hpp"
#include "tests/primitives/threads.hpp"
#include "tests/ranks/on_backend.hpp"

namespace ccl_tests::test {
namespace {

using Parameters = std::tuple<std::string, int, Subject>;

class Primitives : public testing::TestWithParam<Parameters> {};

TEST_P(Primitives, AreRight) {
  const auto& [name, ranks, chosen] = GetParam();
  const Subject& subject = chosen;  // clang 14 cannot capture the other
  BackendPtr backend;
  open_or_skip(name, backend);
  if (IsSkipped()) return;
  on_threads(*backend, ranks, [&](World& world) { run_cases(world, subject.cases); });
}

std::string name_of(const testing::TestParamInfo<Parameters>& info) {
  const auto& [backend, ranks, subject] = info.param;
  std::string name = fmt::format("{}_{}_{}", subject.name, backend, ranks);
  std::replace(name.begin(), name.end(), '-', '_');  // GoogleTest takes no others
  return name;
}

INSTANTIATE_TEST_SUITE_P(All, Primitives,
                         testing::Combine(tested_backends, testing::Values(1, 3, 4),
                                          testing::ValuesIn(all_subjects())),
                         name_of);

// Of many that differ some are named.
TEST(Agreement, OfManyRanks) {
  constexpr int ranks = 24;
  on_threads(*open_backend("loopback"), ranks, [](World& world) {
    const auto check = [&](int k) {
      return error_everywhere(
          world, [&] { primitives::check_list(world.group, static_cast<std::size_t>(k)); });
    };
    EXPECT_THAT(check(world.rank()), testing::EndsWith("rank 8: the number of objects is 8, on "
                                                       "rank 0 it is 0; and others"));
    EXPECT_THAT(check(world.rank() < ranks / 2 ? 1 : 0),
                testing::HasSubstr("ranks 12, 13, 14, 15, 16, 17, 18, 19 and 4 more: the number of "
                                   "objects is 0, on rank 0 it is 1"));
  });
}

}  // namespace
}  // namespace ccl_tests::test
