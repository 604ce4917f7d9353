// RankGroups that run at once: right results for every program, data of their own, rows of the slowest.
#include <gmock/gmock.h>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <map>
#include <mutex>
#include <thread>

#include "tests/ranks/faulty.hpp"
#include "tests/ranks/on_backend.hpp"
#include "tests/ranks/world.hpp"

namespace ccl_tests::test {
namespace {

using testing::HasSubstr;

Options grouped(int ranks, const char* rule) {
  Options o = quick(ranks);
  o.sweep.grouping = parse_split_rule(rule);
  return o;
}

struct Case {
  int ranks;
  const char* rule;
};
std::vector<Case> every_case() {
  return {{1, "mod 2"},         {3, "mod 2"},         {3, "ranks 2,0;1"},
          {4, "ranks 3,1;2,0"}, {4, "ranks 2,3,1,0"}, {4, "div 3"},
          {4, "and 0x7"},       {4, "local"},         {6, "ranks 5,0,2;4,3,1"}};
}

void expect_right(const Backend& backend, const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    for (const Collective* collective : all_collectives()) {
      Options o = grouped(c.ranks, c.rule);
      o.sweep.all_roots = collective->domain.rooted;
      o.sweep.sizes = {8, 40'000};
      o.measure.iterations = 1;
      o.measure.warmup = 0;
      const RankGroups groups = unplaced_groups(o, c.ranks);
      const auto sizes = groups.distinct_sizes();
      if (!std::all_of(sizes.begin(), sizes.end(),
                       [&](int n) { return runs_on(*collective, n); }) ||
          collective->domain.paired)
        continue;
      const Outcome outcome = run(*collective, o, backend);
      EXPECT_EQ(outcome.exit_code, 0) << collective->name << ", " << c.rule << outcome.text();
      const std::size_t roots =
          collective->domain.rooted ? static_cast<std::size_t>(groups.smallest()) : 1;
      EXPECT_EQ(outcome.rows.size(),
                (collective->needs.synchronizes || collective->domain.fixed_bytes
                     ? 1
                     : o.sweep.sizes.size()) *
                    roots);
    }
  }
}

TEST(Groups, EveryProgramOverLoopback) { expect_right(LoopbackBackend(), every_case()); }

// A backend is given ranks, not rules: groups of one size, of several, in another order; nightly all.
using GroupsOnGloo = OnGloo;
INSTANTIATE_TEST_SUITE_P(Gloos, GroupsOnGloo, every_gloo);
TEST_P(GroupsOnGloo, EveryProgram) {
  const std::vector<Case> few = {
      {1, "mod 2"}, {3, "mod 2"}, {4, "ranks 2,3,1,0"}, {6, "ranks 5,0,2;4,3,1"}};
  expect_right(*gloo_, nightly() ? every_case() : few);
}

// Every group's ranks hold data that no other group has: what one finds of another is wrong.
TEST(Groups, LeakageIsWrongData) {
  std::mutex mutex;
  std::condition_variable arrived;
  std::map<int, std::vector<std::byte>> of_group_0;  // results by rank
  constexpr int checked_call = 1;
  Fault fault;
  fault.after = [&](int rank, int number, const Call& call) {
    if (number != checked_call) return;
    auto* const data = static_cast<std::byte*>(call.recv);
    std::unique_lock lock(mutex);
    if (call.self.group == 0) {
      of_group_0[rank].assign(data, data + call.count * size_of(call.type));
      arrived.notify_all();
    } else if (rank == 0) {
      arrived.wait(lock, [&] { return of_group_0.contains(rank); });
      std::memcpy(data, of_group_0[rank].data(), of_group_0[rank].size());
    }
  };
  Options o = grouped(6, "ranks 5,0,2;4,3,1");
  o.sweep.sizes = {40'000};
  for (const Collective* collective : {&collectives::all_reduce, &collectives::broadcast}) {
    of_group_0.clear();
    const Outcome outcome = run(*collective, o, FaultyBackend(fault));
    EXPECT_EQ(outcome.exit_code, 7) << collective->name;
    EXPECT_EQ(outcome.summary.failed_checks, 1U);
    EXPECT_THAT(outcome.text(), HasSubstr("rank 4 (rank 0 of group 1) on "));
  }
}

TEST(Groups, ARowForEachWhenAsked) {
  Options o = grouped(4, "ranks 0,1,2;3");
  o.sweep.group_rows = true;
  o.sweep.sizes = {1200};
  const Outcome outcome = run(collectives::all_gather, o, LoopbackBackend());
  ASSERT_EQ(outcome.rows.size(), 2U);
  EXPECT_EQ(outcome.rows[0].group, 0);
  EXPECT_EQ(outcome.rows[1].group, 1);
  EXPECT_EQ(outcome.rows[0].count, 100U);
  EXPECT_EQ(outcome.rows[1].count, 300U);
  EXPECT_NEAR(outcome.rows[0].bus_factor, 2.0 / 3, 1e-9);
  EXPECT_EQ(outcome.summary.calls, outcome.rows[0].out_of_place.calls * 2);
}

// The slowest group's time stands in the row.
TEST(Groups, TheRowIsTheSlowest) {
  Fault late;
  late.before = [](int, int, Call& call) {
    if (call.self.group == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    return true;
  };
  Options o = grouped(4, "ranks 0,1,2;3");
  o.sweep.sizes = {1200};
  const Outcome outcome = run(collectives::all_gather, o, FaultyBackend(late));
  ASSERT_EQ(outcome.rows.size(), 1U);
  EXPECT_GE(outcome.rows[0].out_of_place.seconds, 0.02);
  EXPECT_EQ(outcome.rows[0].count, 300U);
}

TEST(Groups, BadRulesEndBeforeAnythingRuns) {
  Options o = grouped(4, "mod 2");
  o.sweep.roots = {2};
  const Outcome outcome = run(collectives::broadcast, o, LoopbackBackend());
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.text(), HasSubstr("there is no rank 2; accepted: 0 to 1"));
  EXPECT_EQ(run(collectives::hypercube, grouped(4, "div 3"), LoopbackBackend()).exit_code, 3);
}

}  // namespace
}  // namespace ccl_tests::test
