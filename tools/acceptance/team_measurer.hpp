// Pairs of hosts, measured by one rank of each.
#pragma once

#include <cstdint>
#include <vector>

#include "tools/acceptance/hosts.hpp"
#include "tools/acceptance/measurer.hpp"
#include "tools/acceptance/record.hpp"
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

}  // namespace ccl_tests::acceptance
