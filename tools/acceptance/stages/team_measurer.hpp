// Pairs of hosts, measured by one rank of each, and how far their search is.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/acceptance/journal.hpp"
#include "tools/acceptance/progress.hpp"
#include "tools/acceptance/record.hpp"
#include "tools/acceptance/search/measurer.hpp"
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
class ToldMeasurer : public PairMeasurer {
 public:
  // done: rounds of the stage so far, which it counts on.
  ToldMeasurer(PairMeasurer& inner, Journal& journal, const ExpectedRounds& rounds, double& done)
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

}  // namespace ccl_tests::acceptance
