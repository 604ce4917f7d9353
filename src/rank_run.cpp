#include "src/rank_run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/rank_case.hpp"
#include "src/recorder.hpp"
#include "verify/coverage.hpp"

namespace ccl {
namespace {

// One rank's half row, as exchanged; the explanation of its first mismatch follows.
struct HalfReport {
  double wall, issue;
  std::uint64_t wrong;
};

}  // namespace

RankRun::RankRun(const RunContext& context, Bootstrap& bootstrap, Communicator& communicator,
                 std::string host, Pulse& pulse)
    : context_(context),
      bootstrap_(bootstrap),
      communicator_(communicator),
      host_(std::move(host)),
      pulse_(pulse) {
  const Options& o = context.options;
  std::size_t largest = 0;
  for (const DataType type : o.types) {
    const std::size_t width = size_of(type);
    for (const std::size_t size : context.sizes) {
      const Shape shape{size / width, width, {bootstrap.rank(), bootstrap.ranks(), 0, 0}, o.spec};
      largest = std::max(
          largest, buffer_bytes(row_bytes(context.collective, shape).region, o.unalign * width));
    }
  }
  send_ = HostBuffer(largest);
  recv_ = HostBuffer(largest);
}

void RankRun::sweep(const OnRow& on_row, const OnWrong& on_wrong) {
  const Options& o = context_.options;
  const Collective& collective = context_.collective;
  std::vector<std::optional<ReduceOp>> ops = {std::nullopt};
  if (collective.reduces) ops.assign(o.ops.begin(), o.ops.end());
  std::vector<int> roots = {0};
  if (collective.rooted) roots = o.roots;
  if (collective.rooted && o.all_roots) {
    roots.clear();
    for (int root = 0; root < bootstrap_.ranks(); ++root) roots.push_back(root);
  }
  for (int cycle = 0; o.cycles == 0 || cycle < o.cycles; ++cycle) {
    for (const DataType type : o.types) {
      for (const auto& op : ops) {
        const auto pattern = context_.patterns.find(type, op, bootstrap_.ranks(), o.seed,
                                                    communicator_.integers_wrap());
        verifier_ = std::make_unique<verify::HostVerifier>(pattern, bootstrap_.rank());
        for (const int root : roots) {
          for (const std::size_t size : context_.sizes)
            measure_row(type, op, root, size, cycle, on_row, on_wrong);
        }
      }
    }
  }
}

void RankRun::measure_row(DataType type, std::optional<ReduceOp> op, int root, std::size_t size,
                          int cycle, const OnRow& on_row, const OnWrong& on_wrong) {
  const Options& o = context_.options;
  const Collective& collective = context_.collective;
  const std::size_t width = size_of(type);
  Case c{.type = type,
         .op = op,
         .shape = {size / width, width, {bootstrap_.rank(), bootstrap_.ranks(), root, 0}, o.spec},
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
  if (collective.counts != nullptr) c.counts = collective.counts(c.shape);
  c.bytes = row_bytes(collective, c.shape);
  c.slots = plan_slots(c.bytes.region, o.unalign * width, send_.size(),
                       std::max<std::size_t>(1, c.operations(o.iterations, o.aggregate)));

  Row row;
  row.bytes = c.bytes.size;
  row.count = c.layout.column_count;
  row.type = name(type);
  row.op = op ? name(*op) : "none";
  row.root = collective.rooted ? root : -1;
  row.bus_factor = collective.bus_factor(c.shape);
  row.emulated = op && communicator_.emulated(*op, type);
  const verify::Pattern& pattern = verifier_->pattern();
  row.coverage = c.verifiable && c.bytes.size > 0
                     ? verify::coverage(pattern.inputs(), pattern.phase(0, 0), size / width)
                     : 1;
  row.cycle = cycle;
  row.out_of_place = measure_cell(c, false, on_wrong);
  row.in_place = measure_cell(c, true, on_wrong);
  row.timestamp = local_time();
  on_row(row, size);
}

std::string RankRun::say(const Case& c, bool in_place, const char* what) const {
  return fmt::format("{} {}{}{}, {} B, {}, {}", context_.collective.name, name(c.type),
                     c.op ? " " : "", c.op ? name(*c.op) : "", c.requested,
                     in_place ? "in place" : "out of place", what);
}

Cell RankRun::measure_cell(const Case& c, bool is_in_place, const OnWrong& on_wrong) {
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
  if (collective.synchronizes && c.verifiable && !repeats) check_barrier(c, checked);
  const double once = run_untimed(half, in_place_calls, checked);
  double slowest = 0;
  for (const std::string& s : bootstrap_.exchange(pack(once), exchange_limit(o, c.bytes.size))) {
    slowest = std::max(slowest, unpack<double>(s));
  }
  const int iterations = capped_iterations(o.iterations, slowest * o.aggregate, o.row_time_s / 2);
  context_.progress.row(say(c, is_in_place, "timed calls"));
  const BatchTime time = run_timed(half, in_place_calls, iterations, checked);
  if (collective.synchronizes) half.verifiable = c.verifiable && !repeats;
  Cell cell = conclude(half, is_in_place, iterations, time, checked, on_wrong);
  cell.repeats_out_of_place = repeats;
  return cell;
}

Cell RankRun::conclude(const Case& c, bool is_in_place, int iterations, const BatchTime& time,
                       const Checked& checked, const OnWrong& on_wrong) {
  const Options& o = context_.options;
  std::string report = pack(HalfReport{time.wall, time.issue, checked.found.wrong});
  if (checked.found.wrong > 0) {
    report +=
        fmt::format("wrong: {}: rank {} on {}: {} wrong, elements {} to {}: {}",
                    say(c, is_in_place, "check"), c.shape.place.rank, host_, checked.found.wrong,
                    checked.found.first, checked.found.last, checked.found.explanation);
  }
  Cell cell;
  cell.iterations = iterations;
  cell.calls = checked.calls;
  cell.verified_calls = checked.verified;
  std::vector<double> wall, issued;
  std::uint64_t wrong = 0;
  for (const std::string& bytes : bootstrap_.exchange(report, exchange_limit(o, c.bytes.size))) {
    const auto half = unpack<HalfReport>(bytes);
    wall.push_back(half.wall);
    issued.push_back(half.issue);
    wrong += half.wrong;
    if (half.wrong == 0) continue;
    ++cell.failed_ranks;
    on_wrong(bytes.substr(sizeof half));
  }
  if (c.verifiable) cell.wrong = wrong;
  const double seconds = average(static_cast<Average>(o.average), wall.data(), wall.size());
  cell.seconds =
      o.cpu_time ? average(static_cast<Average>(o.average), issued.data(), issued.size()) : seconds;
  cell.min_seconds = *std::min_element(wall.begin(), wall.end());
  cell.max_seconds = *std::max_element(wall.begin(), wall.end());
  if (seconds > 0) {
    cell.algbw = static_cast<double>(c.layout.wire_bytes) / seconds / 1e9;
    cell.busbw = cell.algbw * context_.collective.bus_factor(c.shape);
  }
  return cell;
}

}  // namespace ccl
