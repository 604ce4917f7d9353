// What rank 0 of an acceptance run asks all ranks for.
#include <gmock/gmock.h>

#include <functional>

#include "tests/ranks/on_backend.hpp"
#include "tests/ranks/world.hpp"
#include "tools/acceptance/team.hpp"

namespace ccl_tests::test {
namespace {

using acceptance::program_named;
using acceptance::Team;
using InjectedFault = ccl_tests::Fault;
using testing::ElementsAre;

class HostOfRank : public acceptance::HostProbe {
 public:
  explicit HostOfRank(int rank) : rank_(rank) {}
  acceptance::HostDescription describe(const std::string& interface) const override {
    return {{{"interface", interface}}, {"a", "b"}, 1e9 + rank_, 0.5};
  }
  acceptance::Counters counters() const override {
    return {{"rank", static_cast<std::uint64_t>(rank_)}};
  }

 private:
  int rank_;
};

class AcceptanceTeam : public OnBackend {
 protected:
  // lead(team) on rank 0, while the others follow. Returns the job's exit code.
  int led(const std::function<void(Team&)>& lead, std::optional<InjectedFault> inject = {}) {
    Options o;
    o.job.threads = ranks();
    o.job.inject = inject;
    o.backend.init_timeout_s = o.job.timeout_s = 20;
    const Launch launch;
    const auto control = alone();
    FailureBox failure;
    Activity activity;
    verify::PatternCache patterns;
    const JobSetup job = job_setup(collectives::all_reduce, o, {});
    const Staging staging;
    const Process process{job, launch, *backend_, staging,
                          [](const std::string& line) { ADD_FAILURE() << line; }};
    RanksEnd end;
    return run_ranks(
        process, *control, failure, activity,
        [&](Rank& rank) {
          const HostOfRank host(rank.rank());
          Team team(rank, o, patterns, host);
          if (!rank.is_first()) {
            team.follow();
            return 0;
          }
          lead(team);
          team.end();
          return 0;
        },
        [](const RanksEnd& e) { return e.exit_code; }, end);
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, AcceptanceTeam, every_backend);
class AcceptanceTeamOfMany : public AcceptanceTeam {};
INSTANTIATE_TEST_SUITE_P(Backends, AcceptanceTeamOfMany,
                         testing::Combine(tested_backends, testing::Values(3, 4)));

TEST_P(AcceptanceTeam, RowsAreOfAllRanksAndVerified) {
  EXPECT_EQ(led([&](Team& team) {
              const PointRows few = team.checked_rows(program_named("all_reduce"), DataType::int32,
                                                      ReduceOp::max, 4084);
              ASSERT_EQ(few.rows.size(), 1U);
              const Measurement& cell = few.rows[0].out_of_place;
              EXPECT_GT(cell.calls, 0U);
              EXPECT_EQ(cell.verified_calls, cell.calls);
              const PointRows timed = team.rows(program_named("all_gather"), 40'000, 0.01);
              EXPECT_GT(timed.rows.at(0).out_of_place.seconds, 0);
              EXPECT_TRUE(timed.wrong.empty());
              const auto hosts = team.descriptions("eth0");
              const std::vector<acceptance::Counters> counters = team.counters();
              ASSERT_EQ(hosts.size(), static_cast<std::size_t>(ranks()));
              ASSERT_EQ(counters.size(), hosts.size());
              for (std::size_t r = 0; r < hosts.size(); ++r) {
                EXPECT_EQ(hosts[r].facts, (acceptance::Facts{{"interface", "eth0"}}));
                EXPECT_THAT(hosts[r].throttled_wires, ElementsAre("a", "b"));
                EXPECT_EQ(hosts[r].wire_rate, 1e9 + static_cast<double>(r));
                EXPECT_EQ(hosts[r].nvlink_rate, 0.5);
                EXPECT_EQ(counters[r], (acceptance::Counters{{"rank", r}}));
              }
            }),
            0);
}

// Ranks that no group names rest: the others' results are right, and there is a row for each group.
TEST_P(AcceptanceTeamOfMany, GroupsMayLeaveRanksOut) {
  EXPECT_EQ(led([&](Team& team) {
              const int last = ranks() - 1;
              for (const auto& groups : std::vector<std::vector<std::vector<int>>>{
                       {{0, 1}}, {{1, last}}, {{0}, {1, last}}, {}}) {
                team.use_groups(groups);
                const PointRows found = team.rows(program_named("all_reduce"), 4000, 0.01);
                EXPECT_EQ(found.rows.size(), std::max<std::size_t>(1, groups.size()));
                EXPECT_THAT(found.wrong, ElementsAre());
                for (const Row& row : found.rows) EXPECT_GT(row.out_of_place.verified_calls, 0U);
              }
            }),
            0);
}

TEST_P(AcceptanceTeamOfMany, MessagesGoFromTheFirstOfAPairToTheSecond) {
  EXPECT_EQ(led([&](Team& team) {
              const int last = ranks() - 1;
              team.use_groups({{0, last}});  // of which pairs know nothing
              std::vector<std::vector<int>> pairs = {{1, 0}};
              if (ranks() == 4) pairs.push_back({2, 3});
              const auto times = team.times(pairs, 100'000, 0.01);
              ASSERT_EQ(times.size(), pairs.size());
              for (const Measurement& time : times) {
                EXPECT_GT(time.seconds, 0);
                ASSERT_TRUE(time.stream.has_value());
                EXPECT_FALSE(time.stream->seconds.empty());
              }
            }),
            0);
}

TEST_P(AcceptanceTeamOfMany, WrongDataAreOfTheRankThatHasThem) {
  const InjectedFault fault = parse_fault("flipped-bit:rank=1:every=1");
  EXPECT_EQ(led(
                [&](Team& team) {
                  const PointRows found = team.checked_rows(program_named("all_reduce"),
                                                            DataType::float32, ReduceOp::sum, 4000);
                  const auto& mismatches = found.rows.at(0).out_of_place.mismatches;
                  ASSERT_EQ(mismatches.size(), 1U);
                  EXPECT_EQ(mismatches[0].rank, 1);
                },
                fault),
            8);  // this body does not end with 7, so that the fault counts as not found
}

}  // namespace
}  // namespace ccl_tests::test
