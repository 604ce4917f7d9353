// What the options ask for, against the ranks that there are.
#include <fmt/format.h>

#include "src/core/error.hpp"
#include "src/options/alltoallv_options.hpp"
#include "src/options/options.hpp"

namespace ccl_tests {
namespace {

void check_ranks(const Collective& collective, const Options& o, int ranks) {
  for (const int root : o.sweep.roots) {
    if (root < ranks) continue;
    throw UsageError(
        fmt::format("-r: there is no rank {}; accepted: 0 to {}, or all", root, ranks - 1));
  }
  check_matrix(o.spec, ranks);
  const Shape shape{0, 4, {0, ranks}, o.spec};
  if (collective.unsupported == nullptr) return;
  if (const auto why = collective.unsupported(shape)) throw Unsupported(*why);
}

// In-place forms exist for all shapes of a collective, or for none.
void check_placements(const Collective& collective, const Options& o, int ranks) {
  if (o.sweep.placements != Placements::in_place) return;
  if (collective.layout({0, 4, {0, ranks}, o.spec}).in_place) return;
  throw UsageError(
      fmt::format("-O: 0 measures in place alone, and {}_perf has no in-place form; accepted: 1",
                  collective.name));
}

void check_pairs(const SweepOptions& s, int ranks) {
  if (s.grouping.splits())  // by a variable
    throw UsageError("--group: this program runs on pairs of ranks; accepted: --pairs");
  pair_rounds(s.pairing, s.concurrent, ranks);
}

}  // namespace

RankGroups unplaced_groups(const Options& o, int ranks) {
  return {o.sweep.grouping, std::vector<std::string>(static_cast<std::size_t>(ranks))};
}

void check_groups(const Collective& collective, const Options& options, const RankGroups& groups) {
  if (collective.domain.paired) {
    check_pairs(options.sweep, groups.ranks());
    check_placements(collective, options, 2);
    return;
  }
  for (const int ranks : groups.distinct_sizes()) {
    check_ranks(collective, options, ranks);
    check_placements(collective, options, ranks);
  }
}

}  // namespace ccl_tests
