#include "tools/acceptance/schedule.hpp"

#include <utility>

namespace ccl_tests::acceptance {

std::vector<Round> circle(int hosts) {
  if (hosts < 2) return {};
  const int turning = hosts - 1 + hosts % 2;  // an odd number of hosts gets a dummy
  std::vector<Round> rounds;
  for (int shift = 0; shift < turning; ++shift) {
    Round round;
    if (hosts % 2 == 0) round.push_back({shift, turning});
    for (int i = 1; i <= turning / 2; ++i)
      round.push_back({(shift + i) % turning, (shift + turning - i) % turning});
    rounds.push_back(std::move(round));
  }
  return rounds;
}

Tournaments::Tournaments(std::vector<int> hosts, Random& random)
    : hosts_(std::move(hosts)), random_(random) {}

Round Tournaments::next() {
  if (hosts_.size() < 2) return {};
  if (left_.empty()) {
    shuffle(hosts_, random_);
    left_ = circle(static_cast<int>(hosts_.size()));
    shuffle(left_, random_);
  }
  Round round = std::move(left_.back());
  left_.pop_back();
  for (HostPair& pair : round) {
    pair = {hosts_[static_cast<std::size_t>(pair.a)], hosts_[static_cast<std::size_t>(pair.b)]};
    if (below(random_, 2) == 1) std::swap(pair.a, pair.b);
  }
  return round;
}

}  // namespace ccl_tests::acceptance
