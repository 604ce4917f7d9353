#include "tools/acceptance/racks.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "src/core/error.hpp"

namespace ccl_tests::acceptance {
namespace {

std::vector<int> first_numbers(std::size_t n) {
  std::vector<int> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0);
  return numbers;
}

}  // namespace

IntraRackRounds::IntraRackRounds(const Racks& racks, Random& random) {
  for (const std::vector<int>& rack : racks) racks_.emplace_back(rack, random);
}

Round IntraRackRounds::next() {
  Round all;
  for (Tournaments& rack : racks_) {
    const Round round = rack.next();
    all.insert(all.end(), round.begin(), round.end());
  }
  return all;
}

InterRackRounds::InterRackRounds(Racks racks, double oversubscription, Random& random)
    : racks_(std::move(racks)),
      parts_(static_cast<std::size_t>(std::ceil(oversubscription))),
      random_(random),
      matchings_(first_numbers(racks_.size()), random) {
  if (!(oversubscription >= 1))
    throw UsageError("an uplink cannot carry more than the hosts of its rack: give 1 or more");
}

Round InterRackRounds::next() {
  if (left_.empty()) draw();
  if (left_.empty()) return {};
  Round round = std::move(left_.back());
  left_.pop_back();
  return round;
}

// Splits one matching of racks into parts. Each part has other hosts of the same racks.
void InterRackRounds::draw() {
  left_.resize(racks_.size() < 2 ? 0 : parts_);
  for (const HostPair& match : matchings_.next()) {
    std::vector<int>& from = racks_[static_cast<std::size_t>(match.a)];
    std::vector<int>& to = racks_[static_cast<std::size_t>(match.b)];
    shuffle(from, random_);
    shuffle(to, random_);
    for (std::size_t i = 0; i < std::min(from.size(), to.size()); ++i)
      left_[i % parts_].push_back({from[i], to[i]});
  }
  std::erase_if(left_, [](const Round& round) { return round.empty(); });
}

}  // namespace ccl_tests::acceptance
