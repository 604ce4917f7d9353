#include "src/core/routing.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>

#include "src/core/error.hpp"
#include "src/core/given_file.hpp"
#include "src/options/values.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ccl_tests {
namespace {

RoutingOptions options(const std::string& name, std::size_t top_k = 2, std::size_t experts = 16) {
  return {.top_k = top_k, .experts = experts, .name = name, .rule = parse_routing(name)};
}

RoutingLoad load(const std::string& name, int ranks, std::size_t tokens, std::size_t top_k = 2,
                 std::size_t experts = 16) {
  const RoutingOptions o = options(name, top_k, experts);
  return load_of(Routing(o, ranks, tokens), experts);
}

TEST(Routing, EveryTokenHasDistinctExperts) {
  for (const char* const name : {"balanced", "W1", "W2", "W3", "W4", "W5", "lognormal:3", "zipf:4",
                                 "maxvio:0", "maxvio:1", "maxvio:2.2"}) {
    const RoutingOptions o = options(name, 5, 16);
    for (const int ranks : {2, 3, 7}) {
      const Routing routing(o, ranks, 100);
      std::vector<int> experts(5);
      for (std::size_t t = 0; t < 500; ++t) {
        routing.choose(t, experts);
        EXPECT_EQ(std::set<int>(experts.begin(), experts.end()).size(), 5U) << name;
        for (const int expert : experts) {
          ASSERT_GE(expert, 0) << name;
          ASSERT_LT(expert, 16) << name;
          ASSERT_LT(routing.home(expert), ranks) << name;
        }
      }
    }
  }
}

TEST(Routing, TheSameTokensGoToTheSameExpertsOnAnyNumberOfRanks) {
  for (const char* const name : {"balanced", "W1", "W3", "lognormal:1", "zipf:1", "maxvio:1"}) {
    const RoutingOptions o = options(name);
    std::vector<int> some(2), others(2);
    for (std::size_t t = 0; t < 200; ++t) {
      Routing(o, 3, 80).choose(t, some);
      Routing(o, 8, 30).choose(t, others);
      EXPECT_EQ(some, others) << name;
    }
  }
}

TEST(Routing, LoadsAreWhatTheNamesSay) {
  EXPECT_DOUBLE_EQ(load("balanced", 4, 160).expert, 1);
  EXPECT_DOUBLE_EQ(load("balanced", 4, 160).rank, 1);
  for (const double x : {0.0, 0.5, 1.0, 3.0, 6.0}) {
    EXPECT_NEAR(load("maxvio:" + std::to_string(x), 4, 1500).expert, 1 + x, 0.01) << x;
    EXPECT_NEAR(load("maxvio:" + std::to_string(x), 3, 1999, 1, 8).expert, 1 + x, 0.01) << x;
  }
  // 2 of 16 experts with weight 4: 8 of 22 shares, about 2.9 times the mean before each expert is
  // drawn at most once.
  EXPECT_NEAR(load("W1", 4, 2000).expert, 2.7, 0.3);
  EXPECT_GT(load("W1", 4, 2000).rank, 1.3 * load("W3", 4, 2000).rank);  // neighbours share a rank
  EXPECT_GT(load("W2", 4, 2000).rank, 1.8);
  EXPECT_DOUBLE_EQ(load("W5", 4, 2000).rank > 1.2, true);
  EXPECT_GT(load("zipf:2", 4, 2000).expert, load("zipf:1", 4, 2000).expert);
  EXPECT_GT(load("lognormal:2", 4, 2000).expert, load("lognormal:0.5", 4, 2000).expert);
}

TEST(Routing, ARaggedSourceHasMoreTokens) {
  const RoutingOptions o = options("ragged");
  const Routing routing(o, 4, 100);
  std::size_t sum = 0;
  for (int r = 0; r < 4; ++r) sum += routing.tokens(r);
  EXPECT_EQ(sum, 400U);
  EXPECT_EQ(routing.tokens(0), 40U);
  EXPECT_EQ(routing.tokens(3), 160U);
}

TEST(Routing, AnIdleRankGetsNothing) {
  const RoutingOptions o = options("idle-rank");
  const Routing routing(o, 3, 100);
  std::vector<int> experts(2);
  for (std::size_t t = 0; t < 300; ++t) {
    routing.choose(t, experts);
    for (const int expert : experts) EXPECT_LT(routing.home(expert), 2);
  }
}

TEST(Routing, ATokenTravelsOnceToARank) {
  RoutingOptions o = options("balanced", 2, 4);
  o.rule.kind = RoutingKind::trace;
  o.rule.trace = {{0, 1}, {2, 3}, {0, 3}, {2, 1}};  // experts 0, 1 on rank 0; 2, 3 on rank 1
  const RoutingLoad found = load_of(Routing(o, 2, 2), 4);
  EXPECT_EQ(found.wire_tokens, 3U);  // 1 from rank 0, 2 from rank 1
  EXPECT_EQ(found.busiest_tokens, 2U);
  EXPECT_EQ(found.busiest_pairs, 4U);
}

TEST(Routing, WeightsOfNeighboursDiffer) {
  const RoutingOptions o = options("balanced");
  const Routing routing(o, 2, 10);
  for (std::size_t t = 0; t < 50; ++t) EXPECT_NE(routing.weight(t, 0), routing.weight(t, 1));
}

TEST(Routing, BadNamesAreRefused) {
  for (const char* const text : {"", "zipf", "zipf:", "zipf:x", "zipf:-1", "zipf:1x", "balanced:1",
                                 "W6", "W7", "W8", "maxvio", "Balanced"})
    EXPECT_THROW(parse_routing(text), UsageError) << text;
  EXPECT_EQ(trace_file_of("trace:a:b"), "a:b");
}

TEST(Routing, WhatCannotBeIsSaid) {
  EXPECT_NE(Routing::why_not(options("balanced", 17, 16), 4), "");
  EXPECT_NE(Routing::why_not(options("idle-rank", 2, 16), 1), "");
  EXPECT_NE(Routing::why_not(options("idle-rank", 9, 16), 2), "");
  EXPECT_NE(Routing::why_not(options("maxvio:7.5", 2, 16), 2), "");
  EXPECT_EQ(Routing::why_not(options("maxvio:7", 2, 16), 2), "");
}

TEST(Routing, TracesAreRead) {
  EXPECT_EQ(parse_trace("0 3\n# a comment\n\n1,2 # more\n", "f"),
            (std::vector<std::vector<int>>{{0, 3}, {1, 2}}));
  for (const char* const text : {"", "# nothing\n", "1 x\n", "1 -2\n", "1 1\n", "1.5\n"})
    EXPECT_THROW(parse_trace(text, "f"), UsageError) << text;
}

// Opening a pipe waits for who writes it.
TEST(GivenFile, APipeIsReadIfSomebodyWritesIt) {
  const TemporaryFolder folder;
  const std::string pipe = folder.file("pipe");
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const auto why_not = [&] {
    try {
      read_given_file(pipe, 3);
    } catch (const Error& e) {
      return std::string(e.what());
    }
    return std::string();
  };
  EXPECT_THAT(why_not(), testing::HasSubstr("it is a pipe that nobody writes to; use a file"));
  const int writer = ::open(pipe.c_str(), O_RDWR);
  ASSERT_EQ(::write(writer, "0 3\n", 4), 4);
  EXPECT_THAT(why_not(), testing::HasSubstr("it has more than 3 bytes"));
  ::close(writer);
}

}  // namespace
}  // namespace ccl_tests
