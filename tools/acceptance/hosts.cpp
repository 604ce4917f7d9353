#include "tools/acceptance/hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

namespace ccl_tests::acceptance {

Hosts::Hosts(const RankTable& table) {
  std::map<std::string, int> by_place, by_name;
  const std::vector<std::string> places = table.places();
  for (std::size_t r = 0; r < places.size(); ++r) {
    const auto [known, fresh] = by_place.try_emplace(places[r], number());
    if (fresh) {
      const std::string& name = table.ranks[r].host;
      const int same = ++by_name[name];
      all_.push_back({same == 1 ? name : fmt::format("{}#{}", name, same), {}});
    }
    all_[static_cast<std::size_t>(known->second)].ranks.push_back(static_cast<int>(r));
    host_of_.push_back(known->second);
  }
}

std::vector<int> Hosts::everybody() const {
  std::vector<int> all(all_.size());
  std::iota(all.begin(), all.end(), 0);
  return all;
}

std::vector<int> Hosts::ranks_of(const std::vector<int>& hosts) const {
  std::vector<int> ranks;
  for (const int host : hosts)
    ranks.insert(ranks.end(), (*this)[host].ranks.begin(), (*this)[host].ranks.end());
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

}  // namespace ccl_tests::acceptance
