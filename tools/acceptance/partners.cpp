#include "tools/acceptance/partners.hpp"

#include <utility>

namespace ccl_tests::acceptance {

PartnerRounds::PartnerRounds(std::vector<int> good, Random& random)
    : good_(std::move(good)), random_(random) {
  shuffle(good_, random_);
}

Round PartnerRounds::next(const std::vector<int>& suspects) {
  Round round;
  std::vector<int> others;
  const std::size_t first = suspects.size() > good_.size() ? turn_ : 0;
  for (std::size_t i = 0; i < good_.size(); ++i) {
    const int partner = good_[(turn_ + i) % good_.size()];
    if (i < suspects.size())
      round.push_back({suspects[(first + i) % suspects.size()], partner});
    else
      others.push_back(partner);
  }
  ++turn_;
  shuffle(others, random_);
  for (std::size_t i = 0; i + 1 < others.size(); i += 2)
    round.push_back({others[i], others[i + 1]});
  for (HostPair& pair : round)
    if (below(random_, 2) == 1) std::swap(pair.a, pair.b);
  return round;
}

}  // namespace ccl_tests::acceptance
