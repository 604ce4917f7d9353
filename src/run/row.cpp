#include "src/run/row.hpp"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <map>
#include <set>

#include "src/measure/sample_criterion.hpp"
#include "src/measure/stream_criterion.hpp"
#include "src/record/row_text.hpp"
#include "src/run/reproduction_check.hpp"

namespace ccl_tests {
namespace {

// Returns the seconds per call of each rank of the group, from the start of its samples to `end`.
std::vector<double> seconds_per_call(const std::vector<int>& group, const FormFindings& found,
                                     double Sample::*end) {
  std::vector<double> all(group.size());
  for (std::size_t r = 0; r < group.size() && !found.samples.empty(); ++r) {
    for (const Sample& s : found.samples[static_cast<std::size_t>(group[r])])
      all[r] += s.*end - s.start;
    all[r] /= static_cast<double>(std::max<std::size_t>(1, found.calls));
  }
  return all;
}

// Returns the time between two ticks of the kernel's coarse clock (clock_getres(2)).
double tick_s() {
  timespec step{};
  clock_getres(CLOCK_MONOTONIC_COARSE, &step);
  return static_cast<double>(step.tv_sec) + 1e-9 * static_cast<double>(step.tv_nsec);
}

// Rounded, so that files need half as many digits.
double in_picoseconds(double seconds) { return std::round(seconds * 1e12) / 1e12; }

}  // namespace

IterationTimes iteration_times(const std::vector<RankIntervals>& ranks, double operations,
                               int skip) {
  IterationTimes times;
  const auto keep_slowest = [&](std::vector<double>& slowest, std::span<const double> intervals) {
    slowest.resize(std::max(slowest.size(), intervals.size()));
    for (std::size_t i = 0; i < intervals.size(); ++i)
      slowest[i] = std::max(slowest[i], intervals[i] / operations);
  };
  std::map<std::uint64_t, std::vector<double>> processes;
  for (const RankIntervals& rank : ranks) {
    keep_slowest(times.seconds, rank.intervals);
    keep_slowest(processes[rank.process], rank.intervals);
  }
  // --row-time may have left fewer iterations than were to be skipped: the last one counts.
  const int measured = static_cast<int>(times.seconds.size());
  times.skipped = std::min(skip, std::max(0, measured - 1));
  times.of = statistics({times.seconds.begin() + times.skipped, times.seconds.end()});
  if (processes.size() < 2) return times;
  for (auto& [process, seconds] : processes) {
    seconds.resize(times.seconds.size());
    times.processes.push_back(process);
    times.process_seconds.insert(times.process_seconds.end(), seconds.begin(), seconds.end());
  }
  return times;
}

namespace {

// stamps: seconds of a call of each.
StreamTimes stream_times(std::span<const double> stamps, Statistic statistic,
                         const FormFindings& findings, const RowContext& in, double trips) {
  const Estimate found = estimate(stamps, statistic);
  StreamTimes times;
  if (found.has_interval()) {
    times.low = found.low / trips;
    times.high = found.high / trips;
  }
  times.mean = found.mean / trips;
  times.median = found.median / trips;
  times.fast = found.fast / trips;
  times.slow = found.slow / trips;
  times.stamps = found.stamps;
  times.calls_per_stamp = findings.calls_per_stamp;
  times.precision_reached =
      found.half_width() && *found.half_width() <= in.options.measure.precision;
  if (!times.precision_reached) times.flags.emplace_back("imprecise");
  if (found.bimodal()) times.flags.emplace_back("bimodal");
  if (drifts(stamps, statistic)) times.flags.emplace_back("drift");
  if (in.cpus_short && waits_for_tick(stamps, findings.calls_per_stamp, tick_s()))
    times.flags.emplace_back("tick");
  return times;
}

// Returns what samples of a group's operations show. trips: messages of a call.
SampleTimes sample_times(const std::vector<int>& group, const FormFindings& found,
                         const std::vector<double>& longest, Statistic statistic, double trips) {
  SampleTimes times;
  times.ranks.assign(group.begin(), group.end());
  if (longest.empty() || !found.clock_error_s) return times;
  const auto calls = static_cast<double>(found.calls_per_stamp);
  const double sample_s = median(longest) * calls;
  const double error_s = *found.clock_error_s;
  constexpr double most_error = 0.2;  // of a sample: beyond, moments of ranks show the clocks
  if (error_s > most_error * sample_s) return times;
  times.clock_error = error_s;
  const SampleBrackets brackets = brackets_of(found.samples, group, found.calls_per_stamp);
  times.bracket_low = (estimate(brackets.low, statistic).value - 2 * error_s / calls) / trips;
  times.bracket_high = (estimate(brackets.high, statistic).value + 2 * error_s / calls) / trips;
  times.skew = median(brackets.skew);
  constexpr std::size_t least_for_p99 = 100;  // of fewer it is the largest
  if (brackets.skew.size() >= least_for_p99) times.skew_p99 = statistics(brackets.skew).p99;
  if (sample_s > 0) times.skew_share = *times.skew / sample_s;
  RankOrder order = rank_order(found.samples, group, 2 * error_s);
  times.late_share = std::move(order.late_share);
  times.slow_share = std::move(order.slow_share);
  times.late_s = std::move(order.late_s);
  return times;
}

// Sets what single samples showed, and returns the time of a call: until the slowest rank is done.
double fill_samples(Measurement& m, const std::vector<int>& group, const FormFindings& found,
                    const RowContext& in, double trips) {
  const std::vector<double> longest =
      stamp_times(found.samples, group, Average::max, found.calls_per_stamp);
  const Statistic statistic = statistic_of_samples(in.cpus_short);
  const double time_s = estimate(longest, statistic).value;
  m.stream = stream_times(longest, statistic, found, in, trips);
  m.samples = sample_times(group, found, longest, statistic, trips);
  constexpr double most_skew = 0.1;  // beyond, the time is largely the barrier's
  if (m.samples->skew_share.value_or(0) > most_skew) m.stream->flags.emplace_back("skew");
  const double sample_s = time_s * static_cast<double>(found.calls_per_stamp);
  if (sample_s * clock_share < in.clock_cost_s) m.stream->flags.emplace_back("clock");
  return time_s;
}

// Returns the seconds per call of each of one rank's stamps.
std::vector<double> stamps_of(int rank, const FormFindings& found) {
  const int alone[] = {rank};
  return stamp_times(found.samples, alone, Average::rank0, found.calls_per_stamp);
}

// Sets times and bandwidths. algbw and busbw are of the wall time, whatever `seconds` is.
void fill_times(Measurement& m, const std::vector<int>& group, const Shape& shape,
                const FormFindings& found, const RowContext& in) {
  const Collective& collective = *in.problem.collective;
  const bool raw = in.options.output.raw;  // keep every stamp
  const Layout layout = collective.layout(shape);
  const auto legs = static_cast<double>(layout.legs);
  const double trips = legs * static_cast<double>(layout.messages);
  const Statistic statistic = in.options.measure.samples ? statistic_of_samples(in.cpus_short)
                                                         : statistic_of(collective, in.cpus_short);
  std::vector<double> walls;  // of each rank
  if (found.calls_per_stamp == 0) {
    walls = seconds_per_call(group, found, &Sample::end);
  } else {
    for (const int rank : group) walls.push_back(estimate(stamps_of(rank, found), statistic).value);
  }
  double wall = average(in.average(), walls);
  if (in.options.measure.samples) {
    wall = fill_samples(m, group, found, in, trips);
  } else if (found.calls_per_stamp > 0) {
    const std::vector<double> stamps =
        stamp_times(found.samples, group, in.average(), found.calls_per_stamp);
    m.stream = stream_times(stamps, statistic, found, in, trips);
    for (std::size_t i = 0; raw && i < stamps.size(); ++i)
      m.stream->seconds.push_back(in_picoseconds(stamps[i] / trips));
    wall = estimate(stamps, statistic).value;
  }
  if (raw && m.stream)
    for (const int rank : group)
      for (const double seconds : stamps_of(rank, found))
        m.stream->rank_seconds.push_back(in_picoseconds(seconds / trips));
  m.seconds = wall / trips;
  if (in.options.measure.cpu_time)
    m.seconds = average(in.average(), seconds_per_call(group, found, &Sample::issued)) / trips;
  const auto [first, last] = std::minmax_element(walls.begin(), walls.end());
  m.min_seconds = *first / trips;
  m.max_seconds = *last / trips;
  if (wall <= 0) return;
  m.algbw = static_cast<double>(layout.algbw_bytes) * legs / wall / 1e9;
  m.busbw = m.algbw * collective.bus_factor(shape);
  if (collective.domain.paired && layout.algbw_bytes > 0) m.messages_per_s = trips / wall;
}

TimedPart timed_part(const std::vector<Samples>& samples, const std::vector<int>& group) {
  TimedPart part;
  part.ranks = group.size();
  for (const int rank : group) {
    const Samples& mine = samples[static_cast<std::size_t>(rank)];
    part.stamps = mine.size();
    for (const Sample& s : mine) part.seconds += s.seconds() / static_cast<double>(group.size());
  }
  return part;
}

StepTimes mean_steps(const std::vector<const RankReport*>& ranks) {
  StepTimes mean;
  const auto n = static_cast<double>(ranks.size());
  for (const RankReport* rank : ranks) {
    mean.sizes_s += rank->steps.sizes_s / n;
    mean.payload_s += rank->steps.payload_s / n;
    mean.packing_s += rank->steps.packing_s / n;
  }
  return mean;
}

// Adds what was wrong on the ranks of row g's group. Groups have numbers, pairs have not.
void add_mismatches(PointRows& result, const RowContext& in, std::size_t g, std::string_view where,
                    const FormFindings& found, Measurement& cell) {
  const RankGroups& groups = *in.problem.point.groups;
  const int group = static_cast<int>(g);
  const bool numbered = groups.number() > 1 && !in.problem.collective->domain.paired;
  for (const int rank : groups.members(group)) {
    const RankReport& report = found.reports[static_cast<std::size_t>(rank)];
    if (report.wrong == 0) continue;
    Mismatch& mismatch = cell.mismatches.emplace_back();
    mismatch.rank = rank;
    mismatch.host = in.table[rank].host;
    mismatch.wrong = report.wrong;
    mismatch.first = report.first;
    mismatch.last = report.last;
    mismatch.explanation = report.explanation;
    if (numbered) {
      mismatch.group = group;
      mismatch.group_rank = groups.rank_in_group(rank);
    }
    result.wrong.push_back(
        wrong_line(mismatch, row_place(result.rows[g], in.problem.point.bytes, where)));
  }
}

}  // namespace

Measurement measurement_of(const RowContext& in, int group, const FormFindings& found) {
  const SweepPoint& point = in.problem.point;
  const MeasureOptions& options = in.options.measure;
  const Shape shape = shape_of(point, in.options.spec, group);
  const std::vector<int>& members = point.groups->members(group);
  Measurement m;
  std::vector<const RankReport*> reports;
  for (const int rank : members) reports.push_back(&found.reports[static_cast<std::size_t>(rank)]);
  m.iterations = static_cast<int>(found.iterations);
  m.calls = found.reports.front().calls;
  m.verified_calls = found.reports.front().verified;
  fill_times(m, members, shape, found, in);
  for (const RankReport* report : reports)
    for (std::size_t b = found.discarded_blocks; b < report->blocks.size(); ++b) {
      if (!m.evidence) m.evidence.emplace();
      *m.evidence += report->blocks[b];
    }
  if (m.stream && m.evidence) {
    const TimedPart part = timed_part(found.samples, members);
    if (has_page_faults(*m.evidence, part)) m.stream->flags.emplace_back("page faults");
    if (has_noise(*m.evidence, part)) m.stream->flags.emplace_back("noise");
    m.stream->stolen = has_steal(*m.evidence, part);
  }
  if (in.problem.collective->needs.step_times) m.steps = mean_steps(reports);
  if (options.per_iteration) {
    const Layout layout = in.problem.collective->layout(shape);
    const auto operations = static_cast<double>(layout.legs * layout.messages *
                                                static_cast<std::size_t>(options.aggregate));
    std::vector<RankIntervals> ranks;
    for (std::size_t r = 0; r < members.size(); ++r)
      ranks.push_back(
          {static_cast<std::uint64_t>(members[r] / in.ranks_per_process), reports[r]->intervals});
    m.per_iteration = iteration_times(ranks, operations, options.per_iteration_skip);
  }
  if (found.checked) m.wrong = 0;
  for (const RankReport* report : reports) {
    if (found.checked) *m.wrong += report->wrong;
    if (report->wrong > 0) ++m.failed_ranks;
  }
  return m;
}

bool repeats_out_of_place(const Problem& p, Form form) {
  return form == Form::in_place &&
         !p.collective->layout(shape_of(p.point, p.shape.options, 0)).in_place;
}

void add_form(PointRows& result, const RowContext& in, Form form, const FormFindings& found) {
  const Problem& p = in.problem;
  const bool in_place = form == Form::in_place;
  for (std::size_t g = 0; g < result.rows.size(); ++g) {
    const int group = static_cast<int>(g);
    Measurement m = measurement_of(in, group, found);
    m.repeats_out_of_place = repeats_out_of_place(p, form);
    add_mismatches(result, in, g, placement_words(in_place), found, m);
    Row& row = result.rows[g];
    (in_place ? row.in_place : row.out_of_place) = std::move(m);
    const auto first = static_cast<std::size_t>(p.point.groups->members(group)[0]);
    if (row.algorithm.empty()) row.algorithm = found.reports[first].algorithm;
    for (const int rank : p.point.groups->members(group))
      row.seen.add(found.reports[static_cast<std::size_t>(rank)].seen);
    row.observed = words(row.seen);
  }
}

void add_checked(PointRows& result, const RowContext& in, const FormFindings& found,
                 std::string_view where) {
  for (std::size_t g = 0; g < result.rows.size(); ++g) {
    Measurement& m = result.rows[g].out_of_place;
    m.calls = found.reports.front().calls;
    m.verified_calls = found.reports.front().verified;
    add_mismatches(result, in, g, where, found, m);
    for (const Mismatch& mismatch : m.mismatches) m.wrong = m.wrong.value_or(0) + mismatch.wrong;
    m.failed_ranks = m.mismatches.size();
  }
}

void add_calls(PointRows& result, const RowContext& in, Form form, std::string_view where,
               const FormFindings& found) {
  for (std::size_t g = 0; g < result.rows.size(); ++g) {
    Row& row = result.rows[g];
    Measurement& m = form == Form::in_place ? row.in_place : row.out_of_place;
    const std::vector<int>& members = in.problem.point.groups->members(static_cast<int>(g));
    const RankReport& first = found.reports[static_cast<std::size_t>(members.front())];
    m.calls += first.calls;
    m.verified_calls += first.verified;
    if (!found.checked) continue;
    const std::size_t before = m.mismatches.size();
    add_mismatches(result, in, g, where, found, m);
    for (std::size_t k = before; k < m.mismatches.size(); ++k)
      m.wrong = m.wrong.value_or(0) + m.mismatches[k].wrong;
    std::set<int> failed;
    for (const Mismatch& mismatch : m.mismatches) failed.insert(mismatch.rank);
    m.failed_ranks = failed.size();
  }
}

void add_efficiency(Row& row, const Ceiling& ceiling, int rounds) {
  for (Measurement* cell : {&row.out_of_place, &row.in_place}) {
    if (cell->seconds <= 0) continue;
    const double port_bytes = cell->busbw * 1e9 * cell->seconds;
    cell->efficiency = lower_bound(ceiling, rounds, port_bytes) / cell->seconds;
  }
}

Row slowest(const std::vector<Row>& rows) {
  const auto pick = [&](Measurement Row::*half) -> const Row& {
    return *std::max_element(rows.begin(), rows.end(), [&](const Row& a, const Row& b) {
      return (a.*half).seconds < (b.*half).seconds;
    });
  };
  Row row = pick(&Row::out_of_place);
  for (Measurement Row::*const half : {&Row::out_of_place, &Row::in_place}) {
    Measurement& m = row.*half;
    m = pick(half).*half;
    if (m.wrong) m.wrong = 0;
    m.failed_ranks = 0;
    m.mismatches.clear();
    for (const Row& one : rows) {
      const Measurement& more = one.*half;
      m.mismatches.insert(m.mismatches.end(), more.mismatches.begin(), more.mismatches.end());
      if (m.wrong) *m.wrong += more.wrong.value_or(0);
      m.failed_ranks += more.failed_ranks;
    }
  }
  std::vector<Reproduction> reproductions;
  for (const Row& r : rows)
    if (r.reproduction) reproductions.push_back(*r.reproduction);
  if (!reproductions.empty()) row.reproduction = combined(reproductions);
  return row;
}

}  // namespace ccl_tests
