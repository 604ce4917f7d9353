// Dispatch and combine: right for every routing, and what goes wrong is found and named.
#include <gmock/gmock.h>

#include <fmt/format.h>

#include <mutex>
#include <random>
#include <thread>

#include "collectives/moe.hpp"
#include "src/backends/loopback.hpp"
#include "src/bootstrap/control.hpp"
#include "src/bootstrap/thread_ranks.hpp"
#include "src/options/values.hpp"
#include "tests/ranks/on_backend.hpp"
#include "tests/ranks/world.hpp"
#include "verify/verifier.hpp"

namespace ccl_tests::test {
namespace {

using testing::HasSubstr;

class Moe : public OnBackend {};
INSTANTIATE_TEST_SUITE_P(Backends, Moe,
                         testing::Combine(tested_backends, testing::Values(1, 3, 4, 8)));

// Gloo is given counts, not routings: even ones, uneven ones, and one with an idle rank; nightly all.
TEST_P(Moe, EveryRoutingIsRight) {
  const std::vector<const char*> every = {"balanced", "W1",          "W2",       "W3",        "W4",
                                          "W5",       "lognormal:1", "zipf:1.3", "maxvio:1.5"};
  const std::vector<const char*> few = {"balanced", "W5", "zipf:1.3"};
  const bool all = backend_->name() == "loopback" || nightly();
  for (const Collective* collective : {&collectives::moe_dispatch, &collectives::moe_combine})
    for (const char* const name : all ? every : few) {
      Options o = quick(ranks());
      o.spec.routing = {
          .hidden = 37, .top_k = 3, .experts = 13, .name = name, .rule = parse_routing(name)};
      o.sweep.sizes = {0, 37 * 4, 37 * 4 * 45};
      o.check.all = true;
      o.measure.iterations = 5;
      const Outcome outcome = run(*collective, o, *backend_);
      if (ranks() == 1 && std::string(name) == "W5") {
        EXPECT_EQ(outcome.exit_code, exit_code(Exit::unsupported));
        EXPECT_THAT(outcome.text(), HasSubstr("an idle rank needs another one"));
        continue;
      }
      EXPECT_EQ(outcome.exit_code, 0) << collective->name << ' ' << name << ' ' << outcome.text();
      ASSERT_EQ(outcome.rows.size(), 3U);
      for (const Row& row : outcome.rows) EXPECT_EQ(row.out_of_place.wrong, 0U) << name;
      EXPECT_EQ(outcome.rows[2].bytes, 37U * 4 * 45);
      EXPECT_GT(outcome.rows[2].out_of_place.verified_calls, 4U);
      EXPECT_GE(outcome.rows[2].expert_load, 1.0);
    }
}

// Makes one call on every rank with an operation of its own options (planted), and returns what the
// check against `right` finds: the explanation of each rank.
template <class Spoil>
std::vector<std::string> explanations(const Collective& collective, const CollectiveOptions& right,
                                      const CollectiveOptions& planted, int ranks,
                                      std::size_t tokens, Spoil&& spoil) {
  std::vector<std::string> found(static_cast<std::size_t>(ranks));
  const auto control = alone();
  ThreadRanks world(*control, ranks);
  verify::PatternCache patterns;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank)
    threads.emplace_back([&, rank] {
      const DataType type = DataType::float32;
      ControlChannel& channel = world.rank(rank);
      const auto communicator = LoopbackBackend().connect(channel, {});
      const Shape shape{tokens * right.routing.hidden, 4, {rank, ranks}, right};
      const Shape its{tokens * right.routing.hidden, 4, {rank, ranks}, planted};
      const auto largest =
          collective.largest_input != nullptr ? collective.largest_input(shape, type) : 0;
      const verify::Verifier verifier(patterns.find(type, {}, ranks, 3, true, largest), rank);
      const Layout layout = collective.layout(shape);
      const auto blocks = collective.expected(shape);
      const std::size_t room = collective.largest(its) + collective.largest(shape);
      std::vector<float> send(room), recv(room);
      verifier.fill_input(send.data(), layout.send, 0);
      verifier.poison(recv.data(), layout.recv, blocks, 0);
      Call call = call_of(shape, layout, type, ReduceOp::sum);
      call.send = send.data();
      call.recv = recv.data();
      collective.make(channel, *communicator, its, type)->run(call);
      spoil(rank, recv);
      const verify::Mismatch wrong = verifier.compare(recv.data(), blocks, 0);
      if (wrong.wrong > 0)
        found[static_cast<std::size_t>(rank)] =
            collective.place(shape, wrong.first) + ": " + wrong.explanation;
    });
  for (std::thread& thread : threads) thread.join();
  return found;
}
void nothing(int /*rank*/, std::vector<float>& /*recv*/) {}

// Returns options whose tokens go to random experts.
CollectiveOptions with_trace(std::mt19937& random, std::size_t all_tokens) {
  CollectiveOptions o;
  o.routing = {.hidden = 33, .top_k = 3, .experts = 12, .name = "trace:t", .rule = {}};
  o.routing.rule.kind = RoutingKind::trace;
  for (std::size_t t = 0; t < all_tokens; ++t) {
    std::vector<int> experts(12);
    std::iota(experts.begin(), experts.end(), 0);
    std::shuffle(experts.begin(), experts.end(), random);
    experts.resize(3);
    o.routing.rule.trace.push_back(experts);
  }
  return o;
}

constexpr int planted_ranks = 4, faults = 100;
constexpr std::size_t tokens_each = 7;

TEST(MoeFaults, ATokenAtTheWrongExpertIsFound) {
  std::mt19937 random(1);
  for (int k = 0; k < faults; ++k) {
    const CollectiveOptions right = with_trace(random, planted_ranks * tokens_each);
    CollectiveOptions planted = right;
    std::vector<int>& token = planted.routing.rule.trace[random() % (planted_ranks * tokens_each)];
    int other = 0;
    while (std::find(token.begin(), token.end(), other) != token.end()) ++other;
    token[random() % 3] = other;
    const auto found = explanations(collectives::moe_dispatch, right, planted, planted_ranks,
                                    tokens_each, nothing);
    const bool named = std::any_of(found.begin(), found.end(), [](const std::string& text) {
      return text.find("token ") == 0 && text.find(" at expert ") != std::string::npos;
    });
    EXPECT_TRUE(named) << k << ' ' << testing::PrintToString(found);
  }
}

TEST(MoeFaults, TheWeightOfANeighbourIsFoundAndNamed) {
  std::mt19937 random(2);
  for (int k = 0; k < faults; ++k) {
    const CollectiveOptions right = with_trace(random, planted_ranks * tokens_each);
    CollectiveOptions planted = right;
    const std::size_t t = random() % (planted_ranks * tokens_each);
    std::vector<int>& token = planted.routing.rule.trace[t];
    std::swap(token[0], token[1]);
    const auto found =
        explanations(collectives::moe_combine, right, planted, planted_ranks, tokens_each, nothing);
    for (std::size_t rank = 0; rank < found.size(); ++rank) {
      if (rank != t / tokens_each) {
        EXPECT_EQ(found[rank], "") << k;
        continue;
      }
      EXPECT_THAT(found[rank],
                  HasSubstr(fmt::format("token {} of rank {} = ", t % tokens_each, rank)));
      EXPECT_THAT(found[rank], HasSubstr(fmt::format("expert {} of rank", token[0])));
    }
  }
}

TEST(MoeFaults, AMissingContributionIsFoundAndNamed) {
  std::mt19937 random(3);
  for (int k = 0; k < faults; ++k) {
    const CollectiveOptions right = with_trace(random, planted_ranks * tokens_each);
    const std::size_t t = random() % (planted_ranks * tokens_each);
    const auto owner = static_cast<int>(t / tokens_each);
    const Shape shape{tokens_each * 33, 4, {owner, planted_ranks}, right};
    const auto blocks = collectives::moe_combine.expected(shape);
    const ExpectedBlock block = blocks[t % tokens_each];
    const ExpectedBlock::Term term = block.terms[random() % 3];
    // Takes one expert's part out of the sum that the call left.
    const verify::Pattern pattern(DataType::float32, {}, planted_ranks, 3, true,
                                  collectives::moe_combine.largest_input(shape, DataType::float32));
    const auto lose = [&](int rank, std::vector<float>& recv) {
      if (rank != owner) return;
      ExpectedBlock one = block;
      one.terms = {term};
      std::vector<float> part(33);
      pattern.sum(one, 0, 0, std::as_writable_bytes(std::span(part)));
      for (std::size_t i = 0; i < 33; ++i) recv[block.recv_offset + i] -= part[i];
    };
    const auto found =
        explanations(collectives::moe_combine, right, right, planted_ranks, tokens_each, lose);
    for (int rank = 0; rank < planted_ranks; ++rank) {
      const std::string& text = found[static_cast<std::size_t>(rank)];
      if (rank != owner) {
        EXPECT_EQ(text, "") << k;
        continue;
      }
      EXPECT_THAT(text, HasSubstr(fmt::format("token {} of rank {} = ", t % tokens_each, rank)));
      EXPECT_THAT(text, testing::AnyOf(HasSubstr(fmt::format("of rank {}", term.rank)),
                                       HasSubstr(fmt::format("without rank {}'s", term.rank))));
    }
  }
}

}  // namespace
}  // namespace ccl_tests::test
