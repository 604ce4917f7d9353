// Pairs of hosts, measured by one rank of each: how large their messages are, and how far their search is.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/acceptance/journal.hpp"
#include "tools/acceptance/progress.hpp"
#include "tools/acceptance/record.hpp"
#include "tools/acceptance/search/screen.hpp"
#include "tools/acceptance/stages/stages.hpp"
#include "tools/acceptance/team.hpp"

namespace ccl_tests::acceptance {

// The bytes of a message, and those that it may grow to.
struct MessageSizes {
  std::size_t bytes = 0, most = 0;
};

// Rank 0's. Keeps the mean of what it has measured of each pair, for the heat map.
class TeamMeasurer : public PairMeasurer {
 public:
  // seconds: of timed messages in each direction of a round, at most. rail: which rank of each host sends and
  // receives, from 0; all hosts have it.
  TeamMeasurer(Team& team, const Hosts& hosts, const MessageSizes& sizes, double seconds,
               std::size_t rail = 0);

  std::vector<PairTimes> measure(const Round& round) override;
  bool enlarge() override;

  std::size_t bytes() const { return sizes_.bytes; }  // of a message, now
  PairMatrix matrix() const;                          // means of times of messages of bytes()
  std::uint64_t bytes_sent() const { return sent_; }  // by timed messages of all hosts

 private:
  Transfer transfer(const Measurement& found, int from, int to);

  Team& team_;
  const Hosts& hosts_;
  MessageSizes sizes_;
  double seconds_;
  std::size_t rail_;
  std::vector<double> log_sums_;  // by from * hosts + to
  std::vector<int> numbers_;
  std::uint64_t sent_ = 0;
};

// Forwards to another measurer, and tells the journal of each round. rounds: of the stage.
class ReportingMeasurer : public PairMeasurer {
 public:
  // done: rounds of the stage so far, which it counts on.
  ReportingMeasurer(PairMeasurer& inner, Journal& journal, const ExpectedRounds& rounds,
                    double& done)
      : inner_(inner), journal_(journal), rounds_(rounds), done_(done) {}
  std::vector<PairTimes> measure(const Round& round) override {
    std::vector<PairTimes> times = inner_.measure(round);
    ++done_;
    ++own_;
    journal_.at(
        {"round", done_, static_cast<double>(rounds_.least), static_cast<double>(rounds_.most)});
    return times;
  }
  // The rounds so far come on top of those that are expected.
  bool enlarge() override {
    if (!inner_.enlarge()) return false;
    rounds_.least += own_;
    rounds_.most += own_;
    own_ = 0;
    return true;
  }

 private:
  PairMeasurer& inner_;
  Journal& journal_;
  ExpectedRounds rounds_;
  double& done_;
  std::size_t own_ = 0;  // rounds since the last enlarge()
};

// Returns the plan's size, which does not grow. Without one: the power of two of which about 50 messages fit into the
// time of a direction, or a larger one if buffers on the way make such messages faster than long ones. It may grow
// until 4 messages fit. Measures a few rounds. On rank 0.
MessageSizes message_sizes(Context& context);

// Returns whether a quarter of the messages of `bytes` is faster for each byte than the long ones, which are of the same
// pairs, by half of the slowdown: a buffer on the way took them. Times that are not above 0 are missing. Pure.
bool are_buffered(const std::vector<double>& seconds, std::size_t bytes,
                  const std::vector<double>& lasting, std::size_t lasting_bytes, double slowdown);

// Returns the times of all pairs in both directions that were measured.
std::vector<double> seconds_of(const std::vector<PairTimes>& times);

}  // namespace ccl_tests::acceptance
