#include "src/model/bounds.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>

namespace ccl_tests {
namespace {

// Returns true if the results of one of 4 ranks depend on several others, or one rank's input reaches
// several others.
bool among_many(const Collective& collective, const CollectiveOptions& options) {
  constexpr int ranks = 4;
  constexpr std::size_t count = 1024;
  std::map<int, std::set<int>> sources, targets;  // of a rank, others than itself
  for (int target = 0; target < ranks; ++target) {
    for (const ExpectedBlock& block :
         collective.expected({count, sizeof(float), {target, ranks}, options})) {
      if (block.count == 0 || block.source_rank == target) continue;
      if (block.source_rank == ExpectedBlock::all_ranks) return true;
      sources[target].insert(block.source_rank);
      targets[block.source_rank].insert(target);
    }
  }
  const auto several = [](const auto& others) { return others.second.size() > 1; };
  return std::any_of(sources.begin(), sources.end(), several) ||
         std::any_of(targets.begin(), targets.end(), several);
}

}  // namespace

int least_rounds(const Collective& collective, const CollectiveOptions& options, int ranks) {
  if (ranks < 2 || collective.domain.rooted) return 0;
  if (collective.domain.paired) return options.window > 1 ? 0 : 1;
  if (!collective.needs.synchronizes && !among_many(collective, options)) return 1;
  return static_cast<int>(std::bit_width(static_cast<unsigned>(ranks - 1)));
}

double lower_bound(const Ceiling& ceiling, int rounds, double port_bytes) {
  const double bytes_s = ceiling.gb_per_s > 0 ? port_bytes / (ceiling.gb_per_s * 1e9) : 0;
  return std::max(rounds * ceiling.latency_s.value_or(0), bytes_s);
}

}  // namespace ccl_tests
