#include "src/run/reproduction.hpp"

#include <algorithm>
#include <span>

#include "src/core/serialize.hpp"
#include "verify/order_sensitive.hpp"

namespace ccl_tests {
namespace {

struct Found {
  const BitDifference* difference;
  int rank;
};

// The one with the lowest index.
std::optional<Found> first_difference(const std::vector<RankReproduction>& found,
                                      const std::vector<int>& members, Between between) {
  std::optional<Found> first;
  for (const int rank : members) {
    const auto& differences = found[static_cast<std::size_t>(rank)].differences;
    const auto own = differences.find(between);
    if (own == differences.end()) continue;
    if (!first || own->second.index < first->difference->index) first = {&own->second, rank};
  }
  return first;
}

// Of the digests, one after the other.
std::string digest_of(const std::vector<std::string>& digests) {
  std::uint64_t all = 0;
  for (const std::string& text : digests) all = verify::digest(std::as_bytes(std::span(text)), all);
  return verify::digest_text(all);
}

void set_difference(Reproduction& result, const Found& first) {
  result.difference_rank = first.rank;
  result.difference_index = first.difference->index;
  result.difference_ulps = first.difference->distance;
  result.difference = first.difference->values;
}

}  // namespace

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(BitDifference, index, distance, values)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankReproduction, digest, calls, orders_tried, differences)

std::string to_text(const RankReproduction& found) { return to_bytes(found); }
RankReproduction rank_reproduction(std::string_view text) {
  return from_bytes<RankReproduction>(text);
}

// Where calls with the same arguments differ, nothing can be said of what else differs.
std::optional<Reproduction> reproduction_of(const std::vector<RankReproduction>& found,
                                            const std::vector<int>& members) {
  Reproduction result;
  std::vector<std::string> digests;
  bool orders_tried = true;
  for (const int r : members) {
    const RankReproduction& rank = found[static_cast<std::size_t>(r)];
    digests.push_back(rank.digest);
    result.calls = std::max(result.calls, rank.calls);
    orders_tried = orders_tried && rank.orders_tried;
  }
  if (std::all_of(digests.begin(), digests.end(), [](const auto& d) { return d.empty(); }))
    return std::nullopt;
  result.digest = digest_of(digests);
  for (const Between between :
       {Between::calls, Between::ranks, Between::placements, Between::alignments}) {
    const auto first = first_difference(found, members, between);
    if (!first) continue;
    if (result.varies_between.empty()) set_difference(result, *first);
    result.varies_between.emplace_back(between_names[static_cast<std::size_t>(between)]);
    if (between == Between::calls) break;
  }
  const auto order = first_difference(found, members, Between::orders);
  result.verdict = !result.varies_between.empty() ? Reproducibility::varies
                   : order || !orders_tried       ? Reproducibility::stable
                                                  : Reproducibility::order_independent;
  if (result.verdict == Reproducibility::stable && order) set_difference(result, *order);
  return result;
}

Reproduction combined(const std::vector<Reproduction>& groups) {
  Reproduction result =
      *std::max_element(groups.begin(), groups.end(),
                        [](const auto& a, const auto& b) { return a.verdict < b.verdict; });
  if (groups.size() == 1) return result;
  std::vector<std::string> digests;
  for (const Reproduction& group : groups) digests.push_back(group.digest);
  result.digest = digest_of(digests);
  return result;
}

}  // namespace ccl_tests
