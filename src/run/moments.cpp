#include "src/run/moments.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <thread>
#include <utility>

#include "src/core/clock.hpp"
#include "src/judge/passes.hpp"
#include "src/measure/repeatability.hpp"

namespace ccl_tests {
namespace {

// 20 stamps of longer calls take more time than a row that need not be repeated is worth.
constexpr double longest_call_s = 3e-3;
constexpr double most_spent_s = 1.5;  // of moments after rows
constexpr double much_difference =
    0.05;                               // between a cell's times: another moment is worth its time
constexpr double least_apart_s = 0.05;  // from the begin of a round to the next one's

// Returns the cells that have a time of their own, in an order that all moments of a point have.
std::vector<const Measurement*> own_cells(const std::vector<Row>& rows) {
  std::vector<const Measurement*> cells;
  for (const Row& row : rows)
    for (const Measurement* cell : {&row.out_of_place, &row.in_place})
      if (cell->has_own_time()) cells.push_back(cell);
  return cells;
}

// Returns whether another moment could make a time surer.
bool has_wide_interval(const std::vector<Row>& rows) {
  const auto cells = own_cells(rows);
  return std::any_of(cells.begin(), cells.end(), [](const Measurement* cell) {
    return cell->stream && cell->stream->half_width(cell->seconds).value_or(0) > WidthTally::wide;
  });
}

}  // namespace

MomentPlan::MomentPlan(std::vector<std::size_t> bytes, bool fast)
    : bytes_(std::move(bytes)),
      fast_(fast),
      least_rounds_(fast ? 5 : 2),
      most_rounds_(fast ? 30 : 6),
      most_s_(fast ? 4 : 1.5),
      order_(bytes_.size()),
      times_(bytes_.size()) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  std::stable_sort(order_.begin(), order_.end(),
                   [&](std::size_t a, std::size_t b) { return bytes_[a] < bytes_[b]; });
}

// Returns whether the sorted times of a cell differ so much that another moment is worth its time.
bool MomentPlan::differ(const std::vector<double>& times) const {
  if (times.front() <= 0 || std::log(times.back() / times.front()) <= much_difference) return false;
  if (!fast_) return true;
  const FastMoments among = fast_moments(times.size());
  return !among.far || times[*among.far] / times[among.best] - 1 > WidthTally::wide;
}

// Returns whether the point has too few moments yet, or times that differ.
bool MomentPlan::wanted(std::size_t point) const {
  if (bytes_[point] > largest_) return false;
  if (round_ < least_rounds_) return true;
  if (spent_s_ > most_s_) return false;
  const auto& moments = times_[point];
  for (std::size_t cell = 0; cell < moments.front().size(); ++cell) {
    std::vector<double> times;
    for (const auto& moment : moments) times.push_back(moment.at(cell));
    std::sort(times.begin(), times.end());
    if (differ(times)) return true;
  }
  return false;
}

std::optional<MomentPlan::Next> MomentPlan::next() {
  bool begins = at_ == 0;
  while (round_ < most_rounds_) {
    for (; at_ < order_.size(); ++at_)
      if (wanted(order_[at_])) return Next{order_[at_], begins};
    at_ = 0;
    ++round_;
    begins = true;
    if (std::none_of(order_.begin(), order_.end(), [&](std::size_t p) { return wanted(p); })) break;
  }
  return std::nullopt;
}

void MomentPlan::add(const std::vector<double>& times, double spent_s) {
  const std::size_t point = order_[at_++];
  times_[point].push_back(times);
  if (round_ >= least_rounds_) spent_s_ += spent_s;
  const double longest = times.empty() ? 0 : *std::max_element(times.begin(), times.end());
  if (longest > longest_call_s && round_ == 0 && ++slow_ == 2) largest_ = bytes_[point];
}

SeriesMoments::SeriesMoments(BenchmarkRunner& runner, Rank& rank, const Collective& collective,
                             std::span<const SweepPoint> series, double budget_s)
    : runner_(runner),
      rank_(rank),
      collective_(collective),
      series_(series),
      budget_s_(budget_s),
      points_(series.size()) {}

// Ranks that wait for CPUs need more moments than MomentPlan gives others, and shorter ones.
double SeriesMoments::usual_budget_s(const Rank& rank) {
  return rank.shortage().empty() ? 10e-3 : 3e-3;
}

double SeriesMoments::take(std::size_t point) {
  const double before_s = monotonic_seconds();
  PointRows found = runner_.glance(collective_, series_[point], budget_s_);
  if (!rank_.is_first()) return 0;
  Point& of_point = points_[point];
  of_point.moments.push_back(std::move(found.rows));
  of_point.at_s = monotonic_seconds();
  return of_point.at_s - before_s;
}

void SeriesMoments::take_earlier() {
  std::vector<std::size_t> bytes;
  for (const SweepPoint& point : series_) bytes.push_back(point.bytes);
  MomentPlan plan(std::move(bytes), !rank_.shortage().empty());
  double round_at_s = 0;
  constexpr int no_point = -1;
  const auto next_point = [&] {
    const auto next = plan.next();
    if (!next) return no_point;
    if (next->begins_round) {
      const double wait_s = round_at_s + least_apart_s - monotonic_seconds();
      if (wait_s > 0) std::this_thread::sleep_for(std::chrono::duration<double>(wait_s));
      round_at_s = monotonic_seconds();
    }
    return static_cast<int>(next->point);
  };
  for (;;) {
    const int number = rank_.agree(rank_.is_first() ? next_point() : no_point);
    if (number == no_point) return;
    const auto point = static_cast<std::size_t>(number);
    const double took_s = take(point);
    if (!rank_.is_first()) continue;
    std::vector<double> times;
    for (const Measurement* cell : own_cells(points_[point].moments.back()))
      times.push_back(cell->seconds);
    plan.add(times, took_s);
  }
}

std::vector<Row> SeriesMoments::settled(std::size_t point, const std::vector<Row>& rows,
                                        double precision) {
  constexpr int most_more = 3;
  const Point& of_point = points_[point];
  if (rank_.is_first() && !of_point.moments.empty()) {
    const double apart_s = monotonic_seconds() - of_point.at_s;
    const auto before = own_cells(of_point.moments.back()), now = own_cells(rows);
    for (std::size_t k = 0; k < now.size(); ++k)
      apart_.push_back({before.at(k)->seconds, now[k]->seconds, apart_s});
  }
  std::vector<Row> all = combined_rows(point, rows, precision);
  for (int more = 0; more < most_more; ++more) {
    const bool wanted =
        !of_point.moments.empty() && spent_s_ < most_spent_s && has_wide_interval(all);
    if (rank_.agree(wanted ? 1 : 0) == 0) break;
    spent_s_ += take(point);
    all = combined_rows(point, rows, precision);
  }
  return all;
}

std::vector<Row> SeriesMoments::combined_rows(std::size_t point, const std::vector<Row>& rows,
                                              double precision) const {
  std::vector<Row> result;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    std::vector<std::vector<Row>> series;  // the moments of row r of each point
    for (const Point& one : points_) {
      series.emplace_back();
      for (const std::vector<Row>& moment : one.moments) series.back().push_back(moment.at(r));
    }
    std::vector<Row> mine = std::exchange(series[point], {});
    mine.push_back(rows[r]);
    result.push_back(mine.size() < 2 ? mine.front()
                                     : combined_moments(mine, precision, scatters_of(series)));
  }
  return result;
}

}  // namespace ccl_tests
