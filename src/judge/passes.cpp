#include "src/judge/passes.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "src/measure/statistics.hpp"

namespace ccl_tests {
namespace {

using Cells = std::vector<const Measurement*>;

// One number of each cell.
template <class Of>
std::vector<double> each(const Cells& cells, Of of) {
  std::vector<double> values;
  for (const Measurement* cell : cells) values.push_back(std::invoke(of, *cell));
  return values;
}

template <class Of>
double median_of(const Cells& cells, Of of) {
  return median(each(cells, of));
}

// Returns what belongs to the median of times that it is divided by: 0 if it is 0 in the passes.
template <class Of>
double rate_of(const Cells& cells, Of of) {
  return 1 / median_of(cells, [&](const Measurement& cell) { return 1 / std::invoke(of, cell); });
}

template <class Of>
std::uint64_t sum_of(const Cells& cells, Of of) {
  std::uint64_t sum = 0;
  for (const Measurement* cell : cells) sum += std::invoke(of, *cell);
  return sum;
}

template <class Part>
bool all_have(const Cells& cells, std::optional<Part> Measurement::*part) {
  return std::all_of(cells.begin(), cells.end(),
                     [&](const Measurement* cell) { return ((*cell).*part).has_value(); });
}

// The kind of moments that a row's cells are of. There may be many, and a burst of other work hits
// few of them: the median does not show those, and its interval need not either.
enum class CellsAre { passes, moments };
constexpr std::size_t least_scatter = 3;  // of two it would be 15 times their standard deviation
constexpr std::size_t least_robust = 5;   // moments: fewer cannot tell which of them are usual
bool is_robust(CellsAre kind, std::size_t cells) {
  return kind == CellsAre::moments && cells >= least_robust;
}

Scatter scatter_of(const Cells& cells, CellsAre kind) {
  const std::vector<double> times = each(cells, &Measurement::seconds);
  return is_robust(kind, cells.size()) ? robust_scatter_of(times) : ccl_tests::scatter_of(times);
}

// The factor between the middle time and the ends of the interval of one more pass or moment. That
// of their mean would be too narrow: the times of a run share what a later run does not, and that
// is as much as its passes differ by (results/2026-11-24-debian12-2core-intervals).
double factor_of_another(const Cells& cells, CellsAre kind, const std::vector<Scatter>& others) {
  if (cells.size() < least_scatter || cells.front()->seconds <= 0) return 1;
  const Scatter found = scatter_of(cells, kind);
  return std::exp(half_width_of_another(found, usual_deviation(others, found.mean)));
}

using Placement = Measurement Row::*;
constexpr Placement placements[] = {&Row::out_of_place, &Row::in_place};

Cells cells_of(const std::vector<Row>& passes, Placement half) {
  Cells cells;
  for (const Row& pass : passes) cells.push_back(&(pass.*half));
  return cells;
}

Cells by_time(Cells cells) {
  std::sort(cells.begin(), cells.end(),
            [](const Measurement* a, const Measurement* b) { return a->seconds < b->seconds; });
  return cells;
}

// Sets the interval and whether the passes differ by more than their intervals allow.
void set_interval(StreamTimes& all, Cells cells, CellsAre kind,
                  const std::vector<Scatter>& others) {
  cells = by_time(cells);
  const std::size_t outside = is_robust(kind, cells.size()) ? 1 : 0;
  const double first = cells[outside]->seconds;
  const double last = cells[cells.size() - 1 - outside]->seconds;
  const Measurement& before = *cells[(cells.size() - 1) / 2];
  const Measurement& behind = *cells[cells.size() / 2];
  const StreamTimes& lower = *before.stream;
  const StreamTimes& upper = *behind.stream;
  // Moments may be too short for intervals of their own: then that of one more says what there is.
  const bool known = lower.low && lower.high && upper.low && upper.high;
  const bool can_tell = kind == CellsAre::moments && cells.size() >= least_scatter && first > 0;
  if (known || can_tell) {
    const double middle = (before.seconds + behind.seconds) / 2;
    const double factor = factor_of_another(cells, kind, others);
    all.low = std::min(first, middle / factor);
    all.high = std::max(last, middle * factor);
    if (known) {
      all.low = std::min({*all.low, *lower.low, *upper.low});
      all.high = std::max({*all.high, *lower.high, *upper.high});
    }
  }
  double widest = 0;
  for (const Measurement* cell : cells)
    if (cell->stream->low && cell->stream->high)
      widest = std::max(widest, *cell->stream->high - *cell->stream->low);
  constexpr double least_of_moments = 1.1;  // moments differ a little on any machine
  if (widest > 0 && last - first > widest &&
      (kind == CellsAre::passes || last > least_of_moments * first))
    all.flags.emplace_back("unstable");
}

// Returns the flags that any pass has, or most moments.
std::vector<std::string> combined_flags(const Cells& cells, CellsAre kind) {
  std::map<std::string, std::size_t> numbers;
  std::vector<std::string> flags;
  const std::size_t least = kind == CellsAre::passes ? 1 : cells.size() / 2 + 1;
  for (const Measurement* cell : cells)
    for (const std::string& flag : cell->stream->flags)
      if (flag != "imprecise" && ++numbers[flag] == least) flags.push_back(flag);
  return flags;
}

StreamTimes combined_stream(const Cells& cells, CellsAre kind, const std::vector<Scatter>& others) {
  StreamTimes all;
  all.flags = combined_flags(cells, kind);
  for (const Measurement* cell : cells)
    all.calls_per_stamp = std::max(all.calls_per_stamp, cell->stream->calls_per_stamp);
  set_interval(all, cells, kind, others);
  all.confidence = cells.front()->stream->confidence;
  for (const auto member :
       {&StreamTimes::mean, &StreamTimes::median, &StreamTimes::fast, &StreamTimes::slow})
    all.*member = median_of(cells, [&](const auto& cell) { return (*cell.stream).*member; });
  all.stamps = sum_of(cells, [](const Measurement& cell) { return cell.stream->stamps; });
  return all;
}

// Shares are of the samples of all passes in which a rank took part.
SampleTimes combined_samples(const Cells& cells) {
  SampleTimes all;
  for (const auto member :
       {&SampleTimes::clock_error, &SampleTimes::bracket_low, &SampleTimes::bracket_high,
        &SampleTimes::skew, &SampleTimes::skew_p99, &SampleTimes::skew_share}) {
    std::vector<double> values;  // of the cells that have one
    for (const Measurement* cell : cells)
      if (const std::optional<double>& value = (*cell->samples).*member) values.push_back(*value);
    if (!values.empty()) all.*member = median(std::move(values));
  }
  struct Counts {
    double samples = 0, late = 0, slow = 0;
    std::vector<double> late_s;
  };
  std::map<std::uint64_t, Counts> ranks;
  for (const Measurement* cell : cells) {
    const SampleTimes& one = *cell->samples;
    const auto samples = static_cast<double>(cell->stream->stamps);
    for (std::size_t r = 0; r < one.ranks.size(); ++r) {
      Counts& counts = ranks[one.ranks[r]];
      if (one.late_share.empty()) continue;
      counts.samples += samples;
      counts.late += one.late_share[r] * samples;
      counts.slow += one.slow_share[r] * samples;
      counts.late_s.push_back(one.late_s[r]);
    }
  }
  for (auto& [rank, counts] : ranks) {
    all.ranks.push_back(rank);
    if (counts.samples <= 0) continue;
    all.late_share.push_back(counts.late / counts.samples);
    all.slow_share.push_back(counts.slow / counts.samples);
    all.late_s.push_back(median(std::move(counts.late_s)));
  }
  return all;
}

// One for each rank: its first finding, and all that is wrong.
std::vector<Mismatch> combined_mismatches(const Cells& cells) {
  std::map<int, Mismatch> ranks;
  for (const Measurement* cell : cells)
    for (const Mismatch& one : cell->mismatches) {
      const auto [found, is_new] = ranks.emplace(one.rank, one);
      if (!is_new) found->second.wrong += one.wrong;
    }
  std::vector<Mismatch> all;
  for (auto& [rank, mismatch] : ranks) all.push_back(std::move(mismatch));
  return all;
}

// Returns whether times are 10th percentiles: of several moments the fastest counts (fast_moments).
// Ranks that wait for CPUs have regimes that last for many calls, and most runs meet the fastest
// one.
bool are_fast(const Cells& cells, CellsAre kind) {
  return kind == CellsAre::moments &&
         std::all_of(cells.begin(), cells.end(), [](const Measurement* cell) {
           return cell->stream && cell->seconds > 0 && cell->seconds == cell->stream->fast;
         });
}

// Sets the time and what belongs to it to those of the fastest moment. Its interval goes as far as
// the fifth fastest, to either side: another run's is slower with a probability of 1 in 32 if
// moments are independent. Of fewer moments it is that of one more.
void set_fast(Measurement& all, const Cells& cells, const std::vector<Scatter>& others) {
  const Cells sorted = by_time(cells);
  const FastMoments among = fast_moments(sorted.size());
  const Measurement& best = *sorted[among.best];
  all.seconds = best.seconds;
  all.min_seconds = best.min_seconds;
  all.max_seconds = best.max_seconds;
  all.algbw = best.algbw;
  all.busbw = best.busbw;
  all.messages_per_s = best.messages_per_s;
  if (all.samples && best.samples) {
    all.samples->bracket_low = best.samples->bracket_low;
    all.samples->bracket_high = best.samples->bracket_high;
  }
  StreamTimes& stream = *all.stream;
  stream.fast = best.seconds;
  double factor = sorted[among.far.value_or(sorted.size() - 1)]->seconds / best.seconds;
  if (!among.far) factor = std::max(factor, factor_of_another(cells, CellsAre::moments, others));
  stream.low = best.seconds / factor;
  stream.high = best.seconds * factor;
  stream.flags = combined_flags(cells, CellsAre::moments);
}

Measurement combined(const Cells& cells, double precision, CellsAre kind,
                     const std::vector<Scatter>& others) {
  Measurement all = *cells.back();
  const std::vector<double> times = each(cells, &Measurement::seconds);
  const auto [first, last] = std::minmax_element(times.begin(), times.end());
  all.seconds = median(times);
  if (all.seconds > 0) all.pass_spread = (*last - *first) / all.seconds;
  all.min_seconds = median_of(cells, &Measurement::min_seconds);
  all.max_seconds = median_of(cells, &Measurement::max_seconds);
  all.algbw = rate_of(cells, &Measurement::algbw);
  all.busbw = rate_of(cells, &Measurement::busbw);
  if (all.messages_per_s)
    all.messages_per_s = rate_of(cells, [](const auto& cell) { return *cell.messages_per_s; });
  if (all.wrong) all.wrong = sum_of(cells, [](const auto& cell) { return cell.wrong.value_or(0); });
  all.mismatches = combined_mismatches(cells);
  all.failed_ranks = all.mismatches.size();
  for (const Measurement* cell : cells) {
    all.failed_ranks = std::max(all.failed_ranks, cell->failed_ranks);
    all.iterations = std::min(all.iterations, cell->iterations);
  }
  all.calls = sum_of(cells, &Measurement::calls);
  all.verified_calls = sum_of(cells, &Measurement::verified_calls);
  if (all_have(cells, &Measurement::steps))
    for (const auto step : {&StepTimes::sizes_s, &StepTimes::payload_s, &StepTimes::packing_s})
      (*all.steps).*step = median_of(cells, [&](const auto& cell) { return (*cell.steps).*step; });
  if (all_have(cells, &Measurement::efficiency))
    all.efficiency = rate_of(cells, [](const auto& cell) { return *cell.efficiency; });
  if (all_have(cells, &Measurement::evidence)) {
    all.evidence = Evidence();
    for (const Measurement* cell : cells) *all.evidence += *cell->evidence;
  }
  if (!all_have(cells, &Measurement::stream)) return all;
  StreamTimes& stream = all.stream.emplace(combined_stream(cells, kind, others));
  if (all_have(cells, &Measurement::samples)) all.samples = combined_samples(cells);
  if (are_fast(cells, kind)) set_fast(all, cells, others);
  const auto half_width = stream.half_width(all.seconds);
  stream.precision_reached = half_width && *half_width <= precision;
  if (!stream.precision_reached) stream.flags.insert(stream.flags.begin(), "imprecise");
  return all;
}

// The least reproducible one, with the calls of all.
std::optional<Reproduction> combined_reproduction(const std::vector<Row>& passes) {
  const auto less = [](const Row& a, const Row& b) {
    return a.reproduction->verdict < b.reproduction->verdict;
  };
  if (!passes.back().reproduction) return std::nullopt;
  auto all = std::max_element(passes.begin(), passes.end(), less)->reproduction;
  all->calls = 0;
  for (const Row& pass : passes) all->calls += pass.reproduction->calls;
  return all;
}

// Appends those of the placements that were timed.
void add_scatters(std::vector<Scatter>& scatters, const std::vector<Row>& passes, CellsAre kind) {
  for (const Placement half : placements) {
    const Cells cells = cells_of(passes, half);
    const auto timed = [](const Measurement* cell) { return cell->seconds > 0; };
    if (std::all_of(cells.begin(), cells.end(), timed)) scatters.push_back(scatter_of(cells, kind));
  }
}

Row combined_rows(const std::vector<Row>& rows, double precision, CellsAre kind,
                  const std::vector<Scatter>& others) {
  Row row = rows.back();
  for (const Placement half : placements)
    row.*half = combined(cells_of(rows, half), precision, kind, others);
  return row;
}

// Sets the stamps of all moments, and of each rank those of all moments.
void add_stamps(StreamTimes& all, const Cells& cells) {
  std::size_t ranks = 0;
  for (const Measurement* cell : cells) {
    const StreamTimes& one = *cell->stream;
    all.seconds.insert(all.seconds.end(), one.seconds.begin(), one.seconds.end());
    if (one.stamps > 0) ranks = one.rank_seconds.size() / one.stamps;
  }
  for (std::size_t r = 0; r < ranks; ++r)
    for (const Measurement* cell : cells) {
      const StreamTimes& one = *cell->stream;
      const double* const first = one.rank_seconds.data() + r * one.stamps;
      all.rank_seconds.insert(all.rank_seconds.end(), first, first + one.stamps);
    }
}

}  // namespace

Row combined(const std::vector<Row>& passes, double precision, const std::vector<Scatter>& others) {
  Row row = combined_rows(passes, precision, CellsAre::passes, others);
  row.pass.reset();
  row.passes = static_cast<int>(passes.size());
  row.reproduction = combined_reproduction(passes);
  return row;
}

Row combined_moments(const std::vector<Row>& moments, double precision,
                     const std::vector<Scatter>& others) {
  Row row = combined_rows(moments, precision, CellsAre::moments, others);
  row.moments = static_cast<int>(moments.size());
  for (const Placement half : placements) {
    Measurement& all = row.*half;
    const Cells cells = cells_of(moments, half);
    all.moment_seconds = each(cells, &Measurement::seconds);
    if (all.stream) add_stamps(*all.stream, cells);
  }
  return row;
}

std::vector<Scatter> scatters_of(const std::vector<std::vector<Row>>& rows) {
  std::vector<Scatter> scatters;
  for (const std::vector<Row>& one : rows)
    if (!one.empty()) add_scatters(scatters, one, CellsAre::moments);
  return scatters;
}

std::optional<Row> PassRows::add(const Row& row, std::size_t requested, RowPlace place) {
  Place& at = places_[place];
  at.requested = requested;
  at.rows.push_back(row);
  if (at.rows.size() < passes_) return std::nullopt;
  const Row all = combined(at.rows, precision_, scatters_beside(place));
  add_scatters(whole_, at.rows, CellsAre::passes);
  places_.erase(place);
  return all;
}

std::vector<RequestedRow> PassRows::take_rest() {
  std::vector<RequestedRow> rest;
  for (const auto& [place, at] : places_)
    rest.push_back({combined(at.rows, precision_, scatters_beside(place)), at.requested});
  places_.clear();
  return rest;
}

std::vector<Scatter> PassRows::scatters_beside(RowPlace place) const {
  std::vector<Scatter> others = whole_;
  for (const auto& [other, at] : places_)
    if (other != place) add_scatters(others, at.rows, CellsAre::passes);
  return others;
}

}  // namespace ccl_tests
