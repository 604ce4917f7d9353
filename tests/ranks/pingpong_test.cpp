// Pairs of ranks: right results in every form, on loopback and on Gloo; wrong messages are found
// and named; what a row's time is.
#include <gmock/gmock.h>

#include <cstring>
#include <mutex>
#include <set>
#include <vector>

#include "src/core/communicator.hpp"
#include "tests/ranks/faulty.hpp"
#include "tests/ranks/on_backend.hpp"
#include "tests/ranks/world.hpp"

namespace ccl_tests::test {
namespace {

using collectives::pingpong;
using testing::HasSubstr;

Options on_pairs(int ranks, const char* pairs, bool concurrent) {
  Options o = quick(ranks);
  o.sweep.pairing = parse_pairs(pairs);
  o.sweep.concurrent = concurrent;
  return o;
}

struct Case {
  int ranks;
  const char* pairs;
  bool concurrent;
  std::size_t count;  // of pairs
};
std::vector<Case> cases() {
  return {{2, "all", false, 1},     {3, "2:1", false, 1}, {3, "all", false, 3},
          {3, "all", true, 3},      {4, "all", true, 6},  {4, "3:0,1:2", true, 2},
          {4, "0:1,1:2", false, 2}, {5, "4:2", false, 1}, {6, "1:2,4:3", true, 2}};
}

void expect_right(const Backend& backend) {
  for (const Case& c : cases()) {
    for (const std::size_t window : {1U, 5U}) {
      for (const bool bidirectional : {false, true}) {
        SCOPED_TRACE(std::string(c.pairs) + " of " + std::to_string(c.ranks) + ", window " +
                     std::to_string(window));
        Options o = on_pairs(c.ranks, c.pairs, c.concurrent);
        o.spec.window = window;
        o.spec.bidirectional = bidirectional;
        const Outcome outcome = run(pingpong, o, backend);
        EXPECT_EQ(outcome.exit_code, 0) << outcome.text();
        ASSERT_EQ(outcome.rows.size(), o.sweep.sizes.size() * c.count);
        std::set<RankPair> pairs;
        for (const Row& row : outcome.rows) {
          pairs.insert(*row.pair);
          EXPECT_EQ(row.out_of_place.wrong, 0U);
          EXPECT_GT(row.out_of_place.verified_calls, 0U);
          EXPECT_TRUE(row.in_place.repeats_out_of_place);
        }
        EXPECT_EQ(pairs.size(), c.count);
        EXPECT_EQ(outcome.rows.front().bytes, 8U);
        EXPECT_EQ(outcome.rows.back().bytes, 40'000U);
        EXPECT_EQ(outcome.rows.back().count, 10'000U);
      }
    }
  }
}

TEST(Pingpong, EveryFormOverLoopback) { expect_right(LoopbackBackend()); }

using PingpongOnGloo = OnGloo;
INSTANTIATE_TEST_SUITE_P(Gloos, PingpongOnGloo, every_gloo);
TEST_P(PingpongOnGloo, EveryForm) { expect_right(*gloo_); }

// What one rank's messages are replaced by before they are sent.
class WrongMessages : public FaultyCommunicator {
 public:
  using Replace = std::function<const std::byte*(int rank, const Message& message)>;
  WrongMessages(std::unique_ptr<Communicator> right, int rank, const Replace& replace)
      : FaultyCommunicator(std::move(right), rank, none_), rank_(rank), replace_(replace) {}
  void transfer(std::span<Message> messages, Deadline& deadline) override {
    for (Message& m : messages) {
      const bool token = m.count() == 1;  // of a barrier
      if (m.sends() && !token)
        m = Message::to(m.peer, {replace_(rank_, m), m.bytes.size()}, m.type);
    }
    FaultyCommunicator::transfer(messages, deadline);
  }

 private:
  Fault none_;
  int rank_;
  const Replace& replace_;
};

class WrongMessagesBackend : public LoopbackBackend {
 public:
  explicit WrongMessagesBackend(WrongMessages::Replace replace) : replace_(std::move(replace)) {}
  std::unique_ptr<Communicator> connect(ControlChannel& channel,
                                        const BackendOptions& options) const override {
    return std::make_unique<WrongMessages>(LoopbackBackend::connect(channel, options),
                                           channel.rank(), replace_);
  }

 private:
  WrongMessages::Replace replace_;
};

TEST(Pingpong, WrongMessagesAreFoundAndThePairIsNamed) {
  const std::vector<std::byte> zeros(40'000);
  const WrongMessagesBackend backend([&](int rank, const Message& m) -> const std::byte* {
    return rank == 2 ? zeros.data() : m.bytes.data();
  });
  for (const bool concurrent : {false, true}) {
    Options o = on_pairs(4, "0:1,2:3", concurrent);
    o.sweep.sizes = {40'000};
    const Outcome outcome = run(pingpong, o, backend);
    EXPECT_EQ(outcome.exit_code, 7);
    ASSERT_EQ(outcome.rows.size(), 2U);
    EXPECT_EQ(outcome.rows[0].out_of_place.failed_ranks, 0U);
    EXPECT_EQ(outcome.rows[1].out_of_place.failed_ranks, 1U);
    EXPECT_THAT(outcome.text(), HasSubstr("pair 2:3 out of place: rank 3 on "));
  }
}

// Messages of a window are told apart.
TEST(Pingpong, OneMessageSentTwiceIsFound) {
  const WrongMessagesBackend backend([first = std::make_shared<const std::byte*>(nullptr)](
                                         int rank, const Message& m) -> const std::byte* {
    if (rank != 1) return m.bytes.data();
    if (*first != nullptr && m.bytes.data() == *first + m.bytes.size()) return *first;
    return *first = m.bytes.data();
  });
  Options o = on_pairs(3, "1:2", false);
  o.sweep.sizes = {4000};
  o.spec.window = 2;
  const Outcome outcome = run(pingpong, o, backend);
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_THAT(outcome.text(), HasSubstr("rank 2 on "));
}

// Pairs that run at once hold data of their own.
TEST(Pingpong, MessagesOfAnotherPairAreWrong) {
  std::mutex mutex;
  std::vector<std::byte> of_rank_0;
  std::vector<std::byte> sent_by_rank_2;
  const WrongMessagesBackend backend([&](int rank, const Message& m) -> const std::byte* {
    const std::lock_guard lock(mutex);
    if (rank == 0) of_rank_0.assign(m.bytes.begin(), m.bytes.end());
    if (rank != 2 || of_rank_0.size() != m.bytes.size()) return m.bytes.data();
    sent_by_rank_2 = of_rank_0;
    return sent_by_rank_2.data();
  });
  Options o = on_pairs(4, "0:1,2:3", true);
  o.sweep.sizes = {40'000};
  EXPECT_EQ(run(pingpong, o, backend).exit_code, 7);
}

// Its clock ticks once a turn.
class CountedTurns : public FaultyCommunicator {
 public:
  using FaultyCommunicator::FaultyCommunicator;
  void transfer(std::span<Message> messages, Deadline& deadline) override {
    FaultyCommunicator::transfer(messages, deadline);
    ++turns_.number;
  }
  Clock& clock() override { return turns_; }

 private:
  struct Turns : Clock {
    double now() const override { return number; }
    void sleep_for(double /*seconds*/) override {}
    int number = 0;
  };
  Turns turns_;
};
class CountedTurnsBackend : public LoopbackBackend {
 public:
  std::unique_ptr<Communicator> connect(ControlChannel& channel,
                                        const BackendOptions& options) const override {
    return std::make_unique<CountedTurns>(LoopbackBackend::connect(channel, options),
                                          channel.rank(), none_);
  }

 private:
  Fault none_;
};

TEST(Pingpong, TimeIsOneMessagesOneWay) {
  Options o = on_pairs(3, "0:2", false);
  o.sweep.sizes = {40'000};
  for (const std::size_t window : {1U, 4U}) {
    for (const bool bidirectional : {false, true}) {
      o.spec.window = window;
      o.spec.bidirectional = bidirectional;
      const Outcome outcome = run(pingpong, o, CountedTurnsBackend());
      ASSERT_EQ(outcome.exit_code, 0) << outcome.text();
      const Measurement& cell = outcome.rows[0].out_of_place;
      const double message_s = 1.0 / static_cast<double>(window);
      EXPECT_DOUBLE_EQ(cell.seconds, message_s);
      EXPECT_DOUBLE_EQ(cell.min_seconds, message_s);
      EXPECT_DOUBLE_EQ(cell.max_seconds, message_s);
      EXPECT_DOUBLE_EQ(cell.algbw, 40'000 / message_s / 1e9);
      EXPECT_DOUBLE_EQ(cell.busbw, cell.algbw);
      EXPECT_DOUBLE_EQ(cell.messages_per_s.value_or(0), 1 / message_s);
    }
  }
}

TEST(Pingpong, BadPairsEndBeforeAnythingRuns) {
  EXPECT_EQ(run(pingpong, on_pairs(3, "0:3", false), LoopbackBackend()).exit_code, 2);
  EXPECT_EQ(run(pingpong, on_pairs(3, "0:1,1:2", true), LoopbackBackend()).exit_code, 2);
  EXPECT_EQ(run(pingpong, quick(1), LoopbackBackend()).exit_code, 3);
}

}  // namespace
}  // namespace ccl_tests::test
