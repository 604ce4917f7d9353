#include "src/model/bounds.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace ccl_tests {
namespace {

// Returns true if the results of one of 4 ranks depend on several others, or one rank's input reaches
// several others.
bool among_many(const Collective& collective, const CollectiveOptions& options) {
  constexpr int ranks = 4;
  constexpr std::size_t count = 1024;
  std::vector<std::vector<bool>> reaches(ranks, std::vector<bool>(ranks));  // [source][target]
  for (int target = 0; target < ranks; ++target) {
    const auto row = static_cast<std::size_t>(target);
    for (const ExpectedBlock& block :
         collective.expected({count, sizeof(float), {target, ranks}, options})) {
      if (block.count == 0) continue;
      if (block.source_rank == ExpectedBlock::all_ranks) return true;
      reaches[static_cast<std::size_t>(block.source_rank)][row] = true;
    }
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    int sources = 0;
    int targets = 0;
    for (std::size_t other = 0; other < ranks; ++other) {
      if (other == r) continue;
      sources += reaches[other][r] ? 1 : 0;
      targets += reaches[r][other] ? 1 : 0;
    }
    if (sources > 1 || targets > 1) return true;
  }
  return false;
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
