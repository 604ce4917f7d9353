#include "src/run/point.hpp"

#include <fmt/format.h>

#include <algorithm>
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

// Returns the pair of this rank, or how many others are measured.
std::string pairs_text(const Problem& p) {
  if (!p.collective->domain.paired) return {};
  const RankGroups& pairs = *p.point.groups;
  const int group = p.shape.self.group;
  if (group < 0 && pairs.number() > 1) return fmt::format(", {} pairs", pairs.number());
  const auto& pair = pairs.members(std::max(0, group));
  return fmt::format(", pair {}:{}", pair[0], pair[1]);
}

std::size_t checked_calls(const Options& o, bool checks) {
  return checks ? static_cast<std::size_t>(o.check.calls) : 0;
}

// Returns the seconds of one placement's timed part.
double limit_s(const Options& o) {
  return o.measure.row_time_s / static_cast<double>(number_of(o.sweep.placements));
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
  const SweepPoint& first = all.front();
  SweepPoint smallest = first, largest = first;
  for (const SweepPoint& point : all) {
    if (point.type != first.type || point.op != first.op || point.root != first.root ||
        point.groups != first.groups)
      continue;
    if (point.bytes < smallest.bytes) smallest = point;
    if (point.bytes > largest.bytes) largest = point;
  }
  if (smallest.bytes == largest.bytes) return {};  // its row's own first call does as much
  return {smallest, largest};
}

Problem problem(const Collective& collective, const SweepPoint& point,
                const CollectiveOptions& options, int world_rank) {
  const RankGroups& groups = *point.groups;
  const int group = groups.group_of(world_rank);
  Problem p{&collective, point, shape_of(point, options, std::max(0, group)), {}, {}, {}};
  p.shape.self.rank = groups.rank_in_group(world_rank);
  p.shape.self.group = group;
  p.bytes = row_bytes(collective, p.shape);
  p.layout = collective.layout(p.shape);
  if (!p.takes_part()) {
    p.layout.send = p.layout.recv = 0;
    return p;
  }
  p.blocks = collective.expected(p.shape);
  if (collective.domain.paired) p.peer = groups.members(group)[p.shape.self.rank == 0 ? 1 : 0];
  return p;
}

Shape shape_of(const SweepPoint& point, const CollectiveOptions& options, int group) {
  const std::size_t width = size_of(point.type);
  return {
      point.bytes / width, width, {0, point.groups->ranks_of(group), group}, options, point.root};
}

Call Problem::call(const void* send, void* recv) const {
  Call call = call_of(shape, layout, point.type, point.op.value_or(ReduceOp::sum));
  call.send = send;
  call.recv = recv;
  call.peer = peer;
  return call;
}

std::string Problem::text() const {
  return fmt::format("{} {}{}{}, {} B{}", collective->name, name(point.type), point.op ? " " : "",
                     point.op ? name(*point.op) : "", point.bytes, pairs_text(*this));
}

WaitLimits wait_limits(const Options& o, const Problem& p) {
  constexpr double practically_none_s = 1e6;
  constexpr double later_s = 5;
  constexpr double tensor_s = 0.01;  // of an operation each, if a call is made of many
  if (o.job.timeout_s <= 0) return {.exchange_s = practically_none_s};
  const auto region = static_cast<double>(p.bytes.region);
  const double tensors =
      p.collective->flags.tensors ? static_cast<double>(o.spec.tensors.size()) : 0;
  WaitLimits limits;
  limits.operation_s =
      o.job.timeout_s + region * p.shape.self.ranks / 1e6 + tensors * tensor_s + later_s;
  const double calls =
      std::max(2.0, static_cast<double>(o.measure.iterations) * o.measure.aggregate);
  limits.exchange_s = calls * (o.job.timeout_s + region / 1e6) + o.measure.row_time_s;
  limits.block_s = limits.exchange_s / 4;
  limits.agreement_s = limits.operation_s + 2 * limits.exchange_s + o.backend.init_timeout_s;
  return limits;
}

Statistic statistic_of(const Collective& collective, bool cpus_short) {
  return collective.domain.rooted ? Statistic::mean : statistic_of_samples(cpus_short);
}

Statistic statistic_of_samples(bool cpus_short) {
  return cpus_short ? Statistic::fast : Statistic::median;
}

BatchGoal batch_goal(const Options& o, bool checks, bool simulated) {
  BatchGoal goal{.iterations = static_cast<std::size_t>(o.measure.iterations),
                 .aggregate = static_cast<std::size_t>(o.measure.aggregate),
                 .blocking = static_cast<Blocking>(o.measure.blocking),
                 .checked = checked_calls(o, checks),
                 .limit_s = limit_s(o),
                 .repeats = static_cast<std::size_t>(std::max(1, o.measure.graph_launches))};
  const bool exact = o.measure.warmup_given || o.measure.graph_launches > 0 || simulated;
  if (exact) goal.warmup = static_cast<std::size_t>(o.measure.warmup);
  constexpr std::size_t trial = 64;
  if (o.measure.graph_launches == 0 && !simulated && !o.measure.per_iteration) goal.trial = trial;
  return goal;
}

std::size_t most_calls(const Options& o, const Problem& p, const SlotRule& rule, bool checks) {
  std::size_t most = 0;
  for (int g = 0; g < p.point.groups->number(); ++g) {
    const Slots slots =
        row_slots(*p.collective, shape_of(p.point, o.spec, g), o.sweep.unalign, rule);
    const std::size_t calls = checks && o.check.all ? slots.count : calls_per_block(slots, rule);
    if (calls > 0) most = most == 0 ? calls : std::min(most, calls);
  }
  return most;
}

PrecisionGoal precision_goal(const Options& o, const Problem& problem, bool checks,
                             bool cpus_short) {
  PrecisionGoal goal{.precision = o.measure.precision,
                     .gives_up = o.measure.time_budget_s == 0,
                     .limit_s = limit_s(o),
                     .checked = checked_calls(o, checks),
                     .block_s = wait_limits(o, problem).block_s,
                     .average = static_cast<Average>(o.measure.average),
                     .statistic = statistic_of(*problem.collective, cpus_short)};
  const RankGroups& groups = *problem.point.groups;
  for (int g = 0; g < groups.number(); ++g) goal.groups.push_back(groups.members(g));
  return goal;
}

Row unmeasured_row(const Problem& p, int group, const Capabilities& library,
                   const verify::Pattern* pattern, bool numbered) {
  const Collective& collective = *p.collective;
  const Shape shape = shape_of(p.point, p.shape.options, group);
  Row row;
  row.cycle = p.point.cycle;
  row.bytes = collective.domain.fixed_bytes.value_or(row_bytes(collective, shape).size);
  row.count = collective.layout(shape).table_count;
  row.type = p.point.type;
  row.op = p.point.op;
  if (collective.domain.rooted) row.root = shape.root;
  row.bus_factor = collective.bus_factor(shape);
  if (collective.padding_waste != nullptr) row.padding_waste = collective.padding_waste(shape);
  if (collective.load != nullptr) {
    const RoutingLoad load = collective.load(shape);
    row.expert_load = load.expert;
    row.rank_load = load.rank;
    row.wire_bytes = load.wire_tokens * shape.options.routing.hidden * shape.type_bytes;
  }
  if (pattern != nullptr) row.data = name(pattern->inputs().kind());
  row.emulated = library.emulates(operations_of(collective), p.point.type, p.point.op);
  if (p.point.op)
    row.arithmetic = library.suite_combines(operations_of(collective), p.point.type, *p.point.op)
                         ? "suite"
                         : "library";
  row.coverage = pattern != nullptr && row.bytes > 0
                     ? verify::coverage(pattern->inputs(), pattern->phase(0, 0), shape.count)
                     : 1;
  if (collective.domain.paired) {
    row.pair = {p.point.groups->members(group)[0], p.point.groups->members(group)[1]};
  } else if (numbered) {
    row.group = group;
  }
  return row;
}

}  // namespace ccl_tests
