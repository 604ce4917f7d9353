#include "src/run/point.hpp"

#include <numeric>
#include <random>

namespace ccl_tests {
namespace {

std::vector<int> roots_of(const Collective& collective, const Options& o,
                          const RankGroups& groups) {
  if (!collective.domain.rooted) return {0};
  if (!o.sweep.all_roots) return o.sweep.roots;
  std::vector<int> all(static_cast<std::size_t>(groups.smallest()));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

}  // namespace

std::vector<Kind> kinds_of(const Collective& collective, const Options& o) {
  std::vector<std::optional<ReduceOp>> ops = {std::nullopt};
  if (collective.domain.reduces) ops.assign(o.sweep.ops.begin(), o.sweep.ops.end());
  std::vector<Kind> kinds;
  for (const DataType type : o.sweep.types)
    for (const auto& op : ops) kinds.emplace_back(type, op);
  return kinds;
}

std::vector<std::size_t> order_of_pass(std::size_t points, int pass, int passes,
                                       std::uint64_t seed) {
  std::vector<std::size_t> order(points);
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (pass == passes) return order;
  std::mt19937_64 random(seed + static_cast<std::uint64_t>(pass));
  // std::shuffle is another one in every standard library.
  for (std::size_t left = points; left > 1; --left)
    std::swap(order[left - 1], order[random() % left]);
  return order;
}

std::vector<SweepPoint> points(const Collective& collective, const Options& o,
                               const SweepRange& range) {
  std::vector<SweepPoint> all;
  for (const auto& [type, op] : kinds_of(collective, o)) {
    if (range.skipped.contains({type, op})) continue;
    for (const int root : roots_of(collective, o, range.groups.front()))
      for (const std::size_t bytes : range.sizes)
        for (const RankGroups& groups : range.groups)
          all.push_back({type, op, root, bytes, &groups, 0});
  }
  return all;
}

std::vector<SweepPoint> ends_of(const std::vector<SweepPoint>& all) {
  SweepPoint smallest = all.front();
  SweepPoint largest = all.front();
  for (const SweepPoint& point : all) {
    const SweepPoint& first = all.front();
    if (point.type != first.type || point.op != first.op || point.root != first.root ||
        point.groups != first.groups)
      continue;
    if (point.bytes < smallest.bytes) smallest = point;
    if (point.bytes > largest.bytes) largest = point;
  }
  if (smallest.bytes == largest.bytes) return {};  // its row's own first call does as much
  return {smallest, largest};
}

}  // namespace ccl_tests
