// What the options ask for together, against what there is.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "src/options/alltoallv_options.hpp"
#include "src/options/options.hpp"

namespace ccl_tests {
namespace {

bool is_defined(ReduceOp op, DataType type) {
  const auto ops = ops_of(type);
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

// Names of the types in `types` on which `op` is defined, or not.
std::vector<std::string_view> names_of(std::span<const DataType> types, ReduceOp op, bool defined) {
  std::vector<std::string_view> names;
  for (const DataType type : types)
    if (is_defined(op, type) == defined) names.push_back(name(type));
  return names;
}

void check_ranks(const Collective& collective, const Options& o, int ranks) {
  for (const int root : o.roots) {
    if (root < ranks) continue;
    throw UsageError(
        fmt::format("-r: there is no rank {}; accepted: 0 to {}, or all", root, ranks - 1));
  }
  check_matrix(o.spec, ranks);
  const Shape shape{0, 4, {0, ranks}, o.spec};
  if (collective.unsupported == nullptr) return;
  if (const auto why = collective.unsupported(shape)) throw Unsupported(*why);
}

void check_pairs(const Options& o, int ranks) {
  if (o.grouping.splits())
    throw UsageError("--group: this program runs on pairs of ranks; accepted: --pairs");
  pair_rounds(o.pairing, o.concurrent, ranks);
}

// some: what the program takes; empty: everything.
template <class T>
void refuse_others(const char* flag, const Collective& collective, std::span<const T> asked,
                   std::span<const T> some) {
  if (some.empty()) return;
  std::vector<std::string_view> names;
  for (const T value : some) names.push_back(name(value));
  for (const T value : asked) {
    if (std::find(some.begin(), some.end(), value) != some.end()) continue;
    throw Unsupported(fmt::format("{}: {}_perf has no {}; accepted: {}", flag, collective.name,
                                  name(value), fmt::join(names, ",")));
  }
}

}  // namespace

void check_operations(const Collective& collective, const Options& o) {
  refuse_others<DataType>("-d", collective, o.types, collective.domain.types);
  if (!collective.domain.reduces) return;
  refuse_others<ReduceOp>("-o", collective, o.ops, collective.domain.ops);
  for (const ReduceOp op : o.ops) {
    const auto without = names_of(o.types, op, false);
    if (without.empty()) continue;
    throw Unsupported(fmt::format("-o: {} is not defined on {}; accepted: with -d {}", name(op),
                                  fmt::join(without, ", "),
                                  fmt::join(names_of(all_types(), op, true), ",")));
  }
}

RankGroups unplaced_groups(const Options& o, int ranks) {
  return {o.grouping, std::vector<std::string>(static_cast<std::size_t>(ranks))};
}

void check_groups(const Collective& collective, const Options& options, const RankGroups& groups) {
  if (collective.domain.paired) {
    check_pairs(options, groups.ranks());
    return;
  }
  for (const int ranks : groups.distinct_sizes()) check_ranks(collective, options, ranks);
}

}  // namespace ccl_tests
