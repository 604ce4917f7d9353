#include "src/run/rank_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/report/multi_reporter.hpp"
#include "src/run/rank_case.hpp"
#include "verify/coverage.hpp"

namespace ccl_tests {
namespace {

// One row for all groups: the slowest one's, which holds up a training step, and what is wrong in
// any.
Row slowest(const std::vector<Row>& rows) {
  const auto pick = [&](Measurement Row::*half) {
    const auto less = [&](const Row& a, const Row& b) {
      return (a.*half).seconds < (b.*half).seconds;
    };
    return *std::max_element(rows.begin(), rows.end(), less);
  };
  const auto sum = [&](Measurement Row::*half, Measurement cell) {
    if (cell.wrong) cell.wrong = 0;
    cell.failed_ranks = 0;
    cell.mismatches.clear();
    for (const Row& row : rows) {
      const std::vector<Mismatch>& more = (row.*half).mismatches;
      cell.mismatches.insert(cell.mismatches.end(), more.begin(), more.end());
      if (cell.wrong) *cell.wrong += (row.*half).wrong.value_or(0);
      cell.failed_ranks += (row.*half).failed_ranks;
    }
    return cell;
  };
  Row row = pick(&Row::out_of_place);
  row.out_of_place = sum(&Row::out_of_place, row.out_of_place);
  row.in_place = sum(&Row::in_place, pick(&Row::in_place).in_place);
  return row;
}

}  // namespace

std::vector<Kind> kinds_of(const Collective& collective, const Options& o) {
  std::vector<std::optional<ReduceOp>> ops = {std::nullopt};
  if (collective.reduces) ops.assign(o.ops.begin(), o.ops.end());
  std::vector<Kind> kinds;
  for (const DataType type : o.types)
    for (const auto& op : ops) kinds.emplace_back(type, op);
  return kinds;
}

RankRun::RankRun(const RunContext& context, Membership membership, Pulse& pulse)
    : context_(context),
      world_(membership.world),
      group_(membership.group),
      world_communicator_(membership.world_communicator),
      communicator_(membership.communicator),
      host_(std::move(membership.host)),
      pulse_(pulse),
      loops_(membership.devices.loops(membership.device)) {
  const Options& o = context.options;
  std::size_t largest = 0;
  for (const DataType type : o.types) {
    const std::size_t width = size_of(type);
    for (const std::size_t size : context.sizes) {
      const Shape shape{size / width, width, group_rank(context.groups), o.spec};
      largest = std::max(
          largest, buffer_bytes(row_bytes(context.collective, shape).region, o.unalign * width));
    }
  }
  int k = 0;
  for (Buffer* const buffer : {&send_, &recv_}) {
    *buffer = communicator_.allocate(largest);
    if (buffer->data() == nullptr) *buffer = membership.device.allocate(largest);
    registrations_[k++] = communicator_.register_buffer(buffer->data(), largest);
  }
}

void RankRun::sweep(const OnRow& on_row, const OnWrong& on_wrong) {
  const Options& o = context_.options;
  const Collective& collective = context_.collective;
  std::vector<int> roots = {0};
  if (collective.rooted) roots = o.roots;
  if (collective.rooted && o.all_roots) {
    roots.clear();
    for (int root = 0; root < context_.groups.smallest(); ++root) roots.push_back(root);
  }
  for (int cycle = 0; o.cycles == 0 || cycle < o.cycles; ++cycle) {
    for (const auto& [type, op] : kinds_of(collective, o)) {
      if (context_.skipped.contains({type, op})) continue;
      use_data_of(type, op, context_.groups);
      for (const int root : roots) {
        for (const std::size_t size : context_.sizes) {
          if (!collective.paired)
            measure_rows(context_.groups, type, op, root, size, cycle, on_row, on_wrong);
          for (const PairRound& round : context_.rounds) {
            const RankGroups pairs = as_groups(round, world_.ranks());
            use_data_of(type, op, pairs);
            measure_rows(pairs, type, op, root, size, cycle, on_row, on_wrong);
          }
        }
      }
    }
  }
}

// Data of groups differ, so that what leaks from one into another is wrong there.
void RankRun::use_data_of(DataType type, std::optional<ReduceOp> op, const RankGroups& groups) {
  const GroupRank me = group_rank(groups);
  const auto group = static_cast<std::uint64_t>(std::max(0, me.group));
  const auto pattern =
      context_.patterns.find(type, op, me.ranks, context_.options.seed + 0x9e3779b9 * group,
                             communicator_.integers_wrap());
  verifier_ = std::make_unique<verify::Verifier>(pattern, me.rank, *loops_);
}

void RankRun::measure_rows(const RankGroups& groups, DataType type, std::optional<ReduceOp> op,
                           int root, std::size_t size, int cycle, const OnRow& on_row,
                           const OnWrong& on_wrong) {
  const Options& o = context_.options;
  const Collective& collective = context_.collective;
  const std::size_t width = size_of(type);
  Case c{.groups = groups,
         .type = type,
         .op = op,
         .shape = {size / width, width, group_rank(groups), o.spec, root},
         .requested = size,
         .layout = {},
         .segments = {},
         .counts = {},
         .bytes = {},
         .slots = {},
         .verifiable = o.check > 0 && !verifier_->pattern().inputs().not_verifiable() &&
                       (!collective.synchronizes || context_.one_machine)};
  c.layout = collective.layout(c.shape);
  c.segments = collective.expected(c.shape);
  if (c.shape.self.group < 0) {  // in no pair: takes part in barriers only
    c.layout.send = c.layout.recv = 0;
    c.segments.clear();
  } else if (collective.paired) {
    c.peer = groups.members(c.shape.self.group)[c.shape.self.rank == 0 ? 1 : 0];
  }
  if (collective.counts != nullptr) c.counts = collective.counts(c.shape);
  c.bytes = row_bytes(collective, c.shape);
  c.slots = plan_slots(c.bytes.region, o.unalign * width, send_.size(),
                       std::max<std::size_t>(1, c.operations(o.iterations, o.aggregate)));

  if (collective.compose != nullptr) {
    const double calls = operation_limit(c);
    const double exchange = exchange_limit(o, c.bytes.region);
    const double asking = 2 * exchange + o.init_timeout_s;
    const Watched watched(pulse_, calls > 0 ? calls + asking : 0);
    composite_.reset();  // before there are two
    context_.progress.row(say(c, false, "preparing, and whether the ranks agree"));
    composite_ = collective.compose(group_, communicator_, c.shape, type);
    composite_->set_exchange_limit(exchange);
    composite_->check();
  }
  std::vector<Row> rows;
  for (int g = 0; g < groups.number(); ++g) rows.push_back(row_of(c, g));
  for (Row& row : rows) row.cycle = cycle;
  for (const bool is_in_place : {false, true}) {
    const std::vector<Measurement> cells = measure_cells(c, is_in_place, on_wrong);
    for (std::size_t g = 0; g < rows.size(); ++g)
      (is_in_place ? rows[g].in_place : rows[g].out_of_place) = cells[g];
  }
  for (std::size_t g = 0; g < algorithms_.size(); ++g) rows[g].algorithm = algorithms_[g];
  if (!o.group_rows && !collective.paired) rows = {slowest(rows)};
  for (Row& row : rows) {
    row.timestamp = local_time();
    on_row(row, size);
  }
}

GroupRank RankRun::group_rank(const RankGroups& groups) const {
  const int group = groups.group_of(world_.rank());
  return {groups.rank_in_group(world_.rank()), groups.ranks_of(std::max(0, group)), group};
}

// The pair of this rank, or who else is measured.
std::string RankRun::say_pairs(const Case& c) const {
  if (!context_.collective.paired) return {};
  const int group = c.shape.self.group;
  if (group < 0 && c.groups.number() > 1) return fmt::format(", {} pairs", c.groups.number());
  const auto& pair = c.groups.members(std::max(0, group));
  return fmt::format(", pair {}:{}", pair[0], pair[1]);
}

std::string RankRun::say(const Case& c, bool in_place, const char* what) const {
  return fmt::format("{} {}{}{}, {} B{}, {}, {}", context_.collective.name, name(c.type),
                     c.op ? " " : "", c.op ? name(*c.op) : "", c.requested, say_pairs(c),
                     in_place ? "in place" : "out of place", what);
}

std::vector<Measurement> RankRun::measure_cells(const Case& c, bool is_in_place,
                                                const OnWrong& on_wrong) {
  const Options& o = context_.options;
  const Collective& collective = context_.collective;
  // Without an in-place form the out-of-place measurement is repeated there, unchecked.
  const bool repeats = is_in_place && !c.layout.in_place;
  Case half = c;
  if (repeats || collective.synchronizes) half.verifiable = false;
  const bool in_place_calls = is_in_place && !repeats;

  Checked checked;
  checked.next_phase =
      is_in_place ? c.slots.count + static_cast<std::size_t>(o.warmup + o.check) + 1 : 0;
  context_.progress.row(say(c, is_in_place, "untimed calls"));
  communicator_.begin_row(say(c, is_in_place, "row"));
  if (collective.synchronizes && c.verifiable && !repeats) check_barrier(c, checked);
  const bool show_algorithm = o.backend_options.show_algorithm && !is_in_place;
  if (show_algorithm) communicator_.last_algorithm();  // for the row before
  std::string report = pack(run_untimed(half, in_place_calls, checked));
  if (show_algorithm) report += communicator_.last_algorithm();
  const auto reports = world_.all_gather(report, exchange_limit(o, c.bytes.region));
  double slowest = 0;
  for (const std::string& s : reports) slowest = std::max(slowest, unpack<double>(s));
  if (show_algorithm) learn_algorithms(c.groups, reports);
  const double iteration = slowest * o.aggregate * std::max(1, o.graph_launches);
  const int iterations = capped_iterations(o.iterations, iteration, o.row_time_s / 2);
  context_.progress.row(say(c, is_in_place, "timed calls"));
  const BatchTime time = run_timed(half, in_place_calls, iterations, checked);
  if (c.shape.self.group < 0)  // reports when the pairs are done: silent while the clock runs
    communicator_.sleep(std::max(0.0, (slowest - time.wall) * iterations * o.aggregate));
  if (collective.synchronizes) half.verifiable = c.verifiable && !repeats;
  std::vector<Measurement> cells = conclude(half, is_in_place, iterations, time, checked, on_wrong);
  for (Measurement& cell : cells) cell.repeats_out_of_place = repeats;
  return cells;
}

void RankRun::learn_algorithms(const RankGroups& groups, const Reports& reports) {
  algorithms_.clear();
  for (int g = 0; g < groups.number(); ++g) {
    const auto first = static_cast<std::size_t>(groups.members(g)[0]);
    algorithms_.push_back(reports[first].substr(sizeof(double)));
  }
}

}  // namespace ccl_tests
