// mesh_perf: groups by coordinates, its command line, turns, the matrix, and the end of loops.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <sstream>
#include <thread>
#include <vector>

#include "src/core/error.hpp"
#include "tests/unit/file_flags.hpp"
#include "tools/mesh/arguments.hpp"
#include "tools/mesh/lane.hpp"
#include "tools/mesh/matrix.hpp"
#include "tools/mesh/mesh.hpp"
#include "tools/mesh/mesh_report.hpp"

namespace ccl_tests::mesh {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Mesh mesh_of(const std::string& text, Order order = Order::device_mesh) {
  Mesh mesh = parse_mesh(text);
  mesh.order = order;
  return mesh;
}

std::vector<std::vector<int>> groups_of(const Mesh& mesh, const std::string& dimension) {
  const RankGroups groups = mesh.groups(dimension);
  std::vector<std::vector<int>> all;
  for (int g = 0; g < groups.number(); ++g) all.push_back(groups.members(g));
  return all;
}

using Groups = std::vector<std::vector<int>>;

// torch: init_device_mesh("cpu", (2, 3, 2), mesh_dim_names=("pp", "dp", "tp")).mesh.tolist() is
// [[[0, 1], [2, 3], [4, 5]], [[6, 7], [8, 9], [10, 11]]].
TEST(Mesh, LastDimensionVariesFastestAsInDeviceMesh) {
  const Mesh mesh = mesh_of("pp=2,dp=3,tp=2");
  EXPECT_EQ(mesh.ranks(), 12);
  EXPECT_THAT(mesh.coordinates(9), ElementsAre(1, 1, 1));
  EXPECT_EQ(groups_of(mesh, "tp"), (Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}}));
  EXPECT_EQ(groups_of(mesh, "dp"), (Groups{{0, 2, 4}, {1, 3, 5}, {6, 8, 10}, {7, 9, 11}}));
  EXPECT_EQ(groups_of(mesh, "pp"), (Groups{{0, 6}, {1, 7}, {2, 8}, {3, 9}, {4, 10}, {5, 11}}));
}

// Megatron's own example, 16 ranks with tp 2 and pp 4: tensor groups [0, 1], [2, 3], ...; pipeline
// groups [0, 4, 8, 12], ...; data groups [0, 2], [1, 3], [4, 6], ...
TEST(Mesh, FirstDimensionVariesFastestAsInMegatron) {
  const Mesh mesh = mesh_of("tp=2,dp=2,pp=4", Order::megatron);
  EXPECT_EQ(groups_of(mesh, "tp"),
            (Groups{{0, 1}, {2, 3}, {4, 5}, {6, 7}, {8, 9}, {10, 11}, {12, 13}, {14, 15}}));
  EXPECT_EQ(groups_of(mesh, "dp"),
            (Groups{{0, 2}, {1, 3}, {4, 6}, {5, 7}, {8, 10}, {9, 11}, {12, 14}, {13, 15}}));
  EXPECT_EQ(groups_of(mesh, "pp"),
            (Groups{{0, 4, 8, 12}, {1, 5, 9, 13}, {2, 6, 10, 14}, {3, 7, 11, 15}}));
  EXPECT_EQ(groups_of(mesh_of("pp=4,dp=2,tp=2"), "dp"),
            groups_of(mesh, "dp"));  // the same, listed backwards
}

TEST(Mesh, EveryRankIsInOneGroupOfEachDimension) {
  for (const Order order : {Order::device_mesh, Order::megatron})
    for (const char* const text : {"a=1", "a=3", "a=1,b=4,c=1", "a=3,b=5", "a=2,b=2,c=2"}) {
      const Mesh mesh = mesh_of(text, order);
      for (const Dimension& dimension : mesh.dimensions) {
        const RankGroups groups = mesh.groups(dimension.name);
        EXPECT_EQ(groups.number() * dimension.size, mesh.ranks()) << text;
        for (int rank = 0; rank < mesh.ranks(); ++rank) {
          const auto d = static_cast<std::size_t>(&dimension - mesh.dimensions.data());
          EXPECT_GE(groups.group_of(rank), 0) << text;
          EXPECT_EQ(groups.rank_in_group(rank), mesh.coordinates(rank)[d]) << text;
        }
      }
    }
}

TEST(Mesh, RefusesWhatIsNoMesh) {
  for (const char* const text : {"", "dp", "dp=", "=2", "dp=0", "dp=-1", "dp=2,dp=2", "2=2",
                                 "dp=2,", "dp=2 tp=2", "a=100000,b=100000"})
    EXPECT_THROW(parse_mesh(text), UsageError) << text;
}

TEST(Mesh, ReadsPatterns) {
  const std::vector<Pattern> patterns = parse_patterns("tp:all_reduce:1M,pp:sendrecv:3K");
  ASSERT_EQ(patterns.size(), 2U);
  EXPECT_EQ(patterns[0].dimension, "tp");
  EXPECT_EQ(patterns[0].collective->name, "all_reduce");
  EXPECT_EQ(patterns[0].bytes, std::size_t{1} << 20);
  EXPECT_EQ(patterns[1].name, "pp:sendrecv:3K");
  for (const char* const text :
       {"", "tp", "tp:all_reduce", "tp:all_reduce:", "tp:all_reduce:0", "tp:pingpong:1M",
        "tp:barrier:8", "tp:all_reduce:1M,tp:all_reduce:1M", "tp:sync_grad:1M"})
    EXPECT_THROW(parse_patterns(text), UsageError) << text;
}

TEST(Mesh, RefusesCommandLinesThatDoNotFit) {
  const std::vector<std::string> right = {"--mesh", "dp=2,tp=2", "--do", "tp:all_reduce:1M"};
  EXPECT_EQ(parse(right).patterns.size(), 1U);
  const auto with = [&](std::initializer_list<std::string> more) {
    std::vector<std::string> words = right;
    words.insert(words.end(), more);
    return words;
  };
  EXPECT_THROW(parse({"--mesh", "dp=2"}), UsageError);
  EXPECT_THROW(parse({"--do", "tp:all_reduce:1M"}), UsageError);
  EXPECT_THROW(parse({"--mesh", "dp=2", "--do", "tp:all_reduce:1M"}), UsageError);
  EXPECT_THROW(parse(with({"-o", "band"})), UsageError);  // of float
  EXPECT_THROW(parse(with({"--order", "torch"})), UsageError);
  EXPECT_THROW(parse(with({"--rounds", "0"})), UsageError);
  EXPECT_THROW(parse(with({"--turn-time", "0"})), UsageError);
  EXPECT_THROW(parse(with({"-J", "mesh.csv"})), UsageError);
  const auto refusal = [&](const std::string& turn_s) {
    try {
      return fmt::format("{:g} s", parse(with({"--turn-time", turn_s})).turn_s);
    } catch (const UsageError& e) {
      return std::string(e.what());
    }
  };
  EXPECT_EQ(refusal("60"), "60 s");
  for (const char* const text : {"-1", "0", "60.1", "1e30", "inf", "x"})
    EXPECT_EQ(refusal(text),
              fmt::format("--turn-time: '{}' is not accepted; accepted: a number above 0, up to 60",
                          text));
}

TEST(Mesh, HasOneHelpUnderBothNames) {
  EXPECT_TRUE(parse({"--help"}).help);
  EXPECT_TRUE(parse({"--rounds", "x", "--help-all"}).help);
  std::istringstream page(help_of(texts(), declare_flags));
  for (std::string line; std::getline(page, line);) EXPECT_LE(line.size(), 100U) << line;
}

// The same forwards and backwards, each condition twice.
TEST(Turns, AreTheSameBackwards) {
  EXPECT_THAT(turns_of(0, 1), ElementsAre(-1, -1));
  EXPECT_THAT(turns_of(1, 2), ElementsAre(-1, 0, 0, -1));
  EXPECT_THAT(turns_of(1, 3), ElementsAre(-1, 0, 2, 3, 3, 2, 0, -1));
}

// Rounds of victim 0 of three patterns. seconds: of a turn, by its number in the whole run.
template <class F>
std::vector<Turn> rounds_of(std::size_t rounds, F seconds) {
  std::vector<Turn> turns;
  for (std::size_t round = 0; round < rounds; ++round)
    for (const int beside : turns_of(0, 3))
      turns.push_back({round, 0, beside, seconds(beside, turns.size()), true});
  return turns;
}

double truth(int beside) {
  return std::vector<double>{1, 0, 1.5, 2, 4}.at(static_cast<std::size_t>(beside + 1));
}

TEST(Matrix, HasRatiosAndTimesAlone) {
  const auto turns = rounds_of(4, [](int beside, std::size_t number) {
    const double noise = number % 2 == 0 ? 1.01 : 0.99;
    return 1e-3 * truth(beside) * noise;
  });
  const std::vector<Victim> matrix = matrix_of(3, turns);
  const Victim& victim = matrix[0];
  ASSERT_TRUE(victim.alone.has_value());
  EXPECT_NEAR(victim.alone->value, 1e-3, 2e-5);
  EXPECT_LE(victim.alone->low, 1e-3);
  EXPECT_GE(victim.alone->high, 1e-3);
  EXPECT_FALSE(victim.slowdowns[0].has_value());  // beside itself
  for (const int beside : {1, 2, 3}) {
    const auto& found = victim.slowdowns[static_cast<std::size_t>(beside)];
    ASSERT_TRUE(found.has_value());
    EXPECT_NEAR(found->value, truth(beside), 0.02 * truth(beside));
    EXPECT_LE(found->low, found->value);
    EXPECT_GE(found->high, found->value);
  }
  EXPECT_FALSE(matrix[1].alone.has_value());  // has no turns
}

// A machine that becomes slower all the time, by 1 % a turn: forwards alone, ratios would be wrong.
TEST(Matrix, DriftCancelsOut) {
  const auto turns = rounds_of(4, [](int beside, std::size_t number) {
    return truth(beside) * (1 + 0.01 * static_cast<double>(number));
  });
  const std::vector<Victim> matrix = matrix_of(3, turns);
  ASSERT_TRUE(matrix[0].alone.has_value());
  for (const int beside : {1, 2, 3})
    EXPECT_NEAR(matrix[0].slowdowns[static_cast<std::size_t>(beside)]->value, truth(beside), 1e-9);
}

TEST(Matrix, LeavesOutRoundsThatAreNotComplete) {
  auto turns = rounds_of(4, [](int beside, std::size_t) { return truth(beside); });
  turns.push_back({4, 0, Turn::alone, 1, true});
  turns.push_back({4, 0, 1, 100, true});  // the run was ended here
  turns.push_back({4, 0, 1, 100, true});
  EXPECT_NEAR(matrix_of(3, turns)[0].slowdowns[1]->value, truth(1), 1e-9);
}

TEST(Matrix, FailsClosedIfTheTimeAloneIsNotKnown) {
  const auto constant = [](int beside, std::size_t) { return truth(beside); };
  const auto why_not = [](const std::vector<Turn>& turns) {
    const Victim victim = matrix_of(3, turns)[0];
    EXPECT_FALSE(victim.alone.has_value());
    for (const auto& slowdown : victim.slowdowns) EXPECT_FALSE(slowdown.has_value());
    return victim.why_not;
  };
  EXPECT_THAT(why_not(rounds_of(2, constant)),
              HasSubstr("4 turns alone give no interval; use --rounds 3"));
  std::vector<Turn> drifting;
  for (std::size_t round = 0; round < 10; ++round)
    for (int k = 0; k < 2; ++k)
      drifting.push_back({round, 0, Turn::alone, 1.0 + 0.1 * static_cast<double>(round), true});
  EXPECT_THAT(
      matrix_of(1, drifting, "longer turns")[0].why_not,
      HasSubstr(
          "20 turns alone give no interval, since times drift from turn to turn; use longer turns"));
  auto wrong = rounds_of(4, constant);
  wrong[7].right = false;  // alone
  EXPECT_THAT(why_not(wrong), HasSubstr("data were wrong"));
  EXPECT_THAT(why_not(rounds_of(4, [](int, std::size_t) { return 0.0; })),
              HasSubstr("less time than the clock"));
  EXPECT_THAT(
      why_not(rounds_of(4, [](int, std::size_t number) { return number % 16 == 0 ? 9.0 : 1.0; })),
      HasSubstr("% only; use longer turns or more rounds"));
  auto beside_wrong = rounds_of(4, constant);
  beside_wrong[1].right = false;
  EXPECT_TRUE(matrix_of(3, beside_wrong)[0].alone.has_value());
}

TEST(Mesh, SaysHowLongARunWouldTell) {
  Arguments a;
  EXPECT_EQ(longer_run(a), "a longer --turn-time (0.4) or more --rounds (40)");
  a.turn_s = 30;
  a.rounds = 50000;
  EXPECT_EQ(longer_run(a), "a longer --turn-time (60) or more --rounds (100000)");
}

// Of made-up runs, the interval has to hold the true ratio in nearly all.
TEST(Matrix, IntervalsHoldTheTruth) {
  std::uint64_t state = 1;
  const auto noise = [&] {  // about normal, 5 %
    double sum = 0;
    for (int k = 0; k < 12; ++k) {
      state = state * 6364136223846793005U + 1442695040888963407U;
      sum += static_cast<double>(state >> 11) / 9007199254740992.0;
    }
    return 1 + 0.05 * (sum - 6);
  };
  int held = 0;
  constexpr int runs = 400;
  for (int run = 0; run < runs; ++run) {
    const auto turns =
        rounds_of(8, [&](int beside, std::size_t) { return truth(beside) * noise(); });
    const auto found = matrix_of(3, turns)[0].slowdowns[2];
    held += found && found->low <= 2 && 2 <= found->high ? 1 : 0;
  }
  EXPECT_GE(held, runs * 92 / 100);
  EXPECT_LE(held, runs * 98 / 100);
}

TEST(MeshTable, SaysWhatIsNotKnown) {
  const std::vector<Pattern> patterns =
      parse_patterns("tp:all_reduce:1M,dp:all_gather:1K,pp:sendrecv:8");
  const auto turns = rounds_of(4, [](int beside, std::size_t) { return 1e-3 * truth(beside); });
  const std::string table = table_text(patterns, matrix_of(3, turns));
  EXPECT_THAT(table, HasSubstr("all others"));
  EXPECT_THAT(table, HasSubstr(" 1000.00 [1000.00,1000.00] "));
  EXPECT_THAT(table, HasSubstr("4.000 [4.000,4.000]"));
  EXPECT_THAT(table, HasSubstr("N/A"));
  EXPECT_EQ(beside_text(patterns, 0, 3), "dp:all_gather:1K, pp:sendrecv:8");
  EXPECT_EQ(beside_text(patterns, 0, 2), "pp:sendrecv:8");
  EXPECT_EQ(beside_text(patterns, 0, Turn::alone), "");
}

// Loops of three ranks that each hear of the end at another moment make the same number of calls.
TEST(Gate, LoopsEndAfterTheSameNumberOfCalls) {
  for (int repetition = 0; repetition < 20; ++repetition) {
    constexpr std::size_t ranks = 3;
    std::vector<Gate> gates(ranks);
    std::vector<std::size_t> calls(ranks, 0);
    std::vector<std::thread> loops;
    for (std::size_t r = 0; r < ranks; ++r) {
      gates[r].open();
      loops.emplace_back([&, r] {
        while (gates[r].go_on()) {
          ++calls[r];
          std::this_thread::sleep_for(std::chrono::microseconds(20 + 10 * r));  // the call
        }
      });
    }
    std::size_t most = 0;
    for (Gate& gate : gates) EXPECT_TRUE(gate.wait_for_call());
    for (Gate& gate : gates) most = std::max(most, gate.hold());
    for (Gate& gate : gates) gate.finish(most);
    for (std::thread& loop : loops) loop.join();
    EXPECT_THAT(calls, testing::Each(most));
    EXPECT_GE(most, 1U);
  }
}

TEST(Gate, AbandonedLoopsEndThoughTheyAreHeld) {
  Gate gate;
  gate.open();
  EXPECT_TRUE(gate.go_on());
  gate.hold();
  std::thread loop([&] { EXPECT_FALSE(gate.go_on()); });
  gate.abandon();
  loop.join();
  EXPECT_FALSE(gate.wait_for_call());
}

TEST(MeshArguments, SayWhatBecomesOfFiles) { ccl_tests::test::expect_uses_of_files<Arguments>(); }

}  // namespace
}  // namespace ccl_tests::mesh
