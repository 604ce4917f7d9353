#include "src/run/link_ceiling.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "src/core/composed.hpp"
#include "src/core/error.hpp"
#include "src/core/operation.hpp"
#include "src/record/quantity_text.hpp"

namespace ccl_tests {
namespace {

// One message there and one back.
const Collective round_trip = {
    .name = "pingpong",
    .domain = {.paired = true},
    .layout = [](const Shape& s) -> Layout {
      return {.send = s.count,
              .recv = s.count,
              .count = s.count,
              .table_count = s.count,
              .algbw_bytes = s.count * s.type_bytes,
              .legs = 2};
    },
    .expected = [](const Shape& s) -> std::vector<ExpectedBlock> {
      return {{.count = s.count, .source_rank = 1 - s.self.rank}};
    },
    .bus_factor = [](const Shape&) { return 1.0; },
    .make = [](ControlChannel&, Communicator& communicator, const Shape&,
               DataType) -> std::unique_ptr<Operation> {
      return std::make_unique<LibraryCall<composed::exchange_windows>>(communicator);
    },
    .needs = {.in_steps = true, .host_waits = true},
};

// Returns the seconds of one message one way; 0 if there are no rows. Of the two placements, which
// are the same here, the faster one counts.
double message_s(const PointRows& found) {
  double most_per_s = 0;
  for (const Row& row : found.rows)
    for (const Measurement* cell : {&row.out_of_place, &row.in_place})
      if (row.bytes > 0)
        most_per_s = std::max(most_per_s, cell->busbw * 1e9 / static_cast<double>(row.bytes));
  return most_per_s > 0 ? 1 / most_per_s : 0;
}

}  // namespace

RankPair probed_pair(const std::vector<std::string>& hosts) {
  for (std::size_t r = 1; r < hosts.size(); ++r)
    if (hosts[r] != hosts[r - 1]) return {static_cast<int>(r) - 1, static_cast<int>(r)};
  return {0, 1};
}

LinkCeiling link_ceiling(Rank& rank, BenchmarkRunner& runner, const Options& options,
                         const RankTable& table, std::size_t largest_bytes) {
  const CeilingOption& asked = options.measure.ceiling;
  if (asked.gb_per_s)
    return {Ceiling{*asked.gb_per_s, std::nullopt}, "--ceiling",
            fmt::format("ceiling: {:.3g} GB/s, as --ceiling says", *asked.gb_per_s)};
  if (!asked.measured) return {};
  if (rank.ranks() < 2) return {{}, {}, "no ceiling: a pingpong needs 2 ranks"};
  if (options.measure.iterations == 0) return {{}, {}, "no ceiling: -n 0 times nothing"};
  constexpr std::size_t least_bytes = 8, most_bytes = 64 << 20;
  const RankPair pair = probed_pair(table.places());
  const std::vector<RankGroups> groups = {as_groups({pair}, rank.ranks())};
  constexpr DataType type = DataType::float32;
  Options probe = options;
  probe.sweep.types = {type};
  probe.sweep.sizes = {least_bytes, std::clamp(largest_bytes, least_bytes, most_bytes)};
  const SizePlan plan = plan_sizes(round_trip, probe, table, groups.front(),
                                   rank.process().staging.buffers, rank.process().backend.info());
  runner.reserve(round_trip, {probe.sweep.types, plan.sizes, plan.slots, groups, {}});
  const auto message = [&](std::size_t bytes) {
    const PointRows found =
        runner.run(round_trip, {type, std::nullopt, 0, bytes, &groups.front(), 0});
    if (!found.wrong.empty())
      throw Error("the pingpong of --ceiling auto: " + found.wrong.front(), Exit::wrong_data);
    return message_s(found);
  };
  const double latency_s = message(plan.sizes.front());
  const std::size_t bytes = plan.sizes.back();
  const double large_s = message(bytes);
  if (!rank.is_first() || latency_s <= 0 || large_s <= 0) return {};
  const Ceiling found{static_cast<double>(bytes) / large_s / 1e9, latency_s};
  return {found, "pingpong",
          fmt::format("ceiling: {:.3g} GB/s at {} and {} at {}, pingpong of ranks {} and {}",
                      found.gb_per_s, binary_size_text(bytes), seconds_text(latency_s),
                      binary_size_text(plan.sizes.front()), pair.first, pair.second)};
}

}  // namespace ccl_tests
