// Times of rows at moments before the row is measured: one stretch of time cannot show how far
// another moment, or another run, differs.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "src/measure/repeatability.hpp"
#include "src/run/benchmark_runner.hpp"

namespace ccl_tests {

// Decides which point of a series is measured next, on rank 0. Pure. Rounds over the series, at
// least two, go by ascending size. After the second point whose calls take long larger ones are
// left out (one may be chance). From the third round on only points are measured whose times
// differ, until none is left, or there were enough rounds, or a time has passed. Fast times differ
// until the interval that their moments give is narrow.
class MomentPlan {
 public:
  // bytes: of each point; fast: a row's time is its fastest moment's, since ranks wait for CPUs.
  explicit MomentPlan(std::vector<std::size_t> bytes, bool fast = false);

  struct Next {
    std::size_t point = 0;
    bool begins_round = false;
  };
  // Returns the point to be measured next; nullopt: there are enough moments.
  std::optional<Next> next();
  // times: of all cells of the point that next() returned, in the same order each time, seconds of
  // a call; spent_s: how long all of it took.
  void add(const std::vector<double>& times, double spent_s);

 private:
  bool wanted(std::size_t point) const;
  bool differ(const std::vector<double>& times) const;

  std::vector<std::size_t> bytes_;
  bool fast_;
  std::size_t least_rounds_, most_rounds_;
  double most_s_;  // of rounds after the least ones
  std::vector<std::size_t> order_;
  std::vector<std::vector<std::vector<double>>> times_;  // of each point, moment and cell
  std::size_t at_ = 0, round_ = 0;                       // the next place in order_
  std::size_t slow_ = 0;  // points with long calls in the first round
  std::size_t largest_ = std::numeric_limits<std::size_t>::max();  // bytes that are still measured
  double spent_s_ = 0;
};

// The moments of a series of points. Used by the rank's thread; both functions are collective.
class SeriesMoments {
 public:
  // budget_s: what the timed calls of a cell may take at one moment. All must outlive it.
  SeriesMoments(BenchmarkRunner& runner, Rank& rank, const Collective& collective,
                std::span<const SweepPoint> series, double budget_s);

  // Returns what the timed calls of a cell take at one moment of a run that has time.
  static double usual_budget_s(const Rank& rank);

  // Measures the points at moments before their rows, unverified.
  void take_earlier();
  // Returns the rows of a point (on rank 0) with the median times of all moments, and intervals
  // that hold for another one. If a row says something else than before, further moments follow.
  std::vector<Row> settled(std::size_t point, const std::vector<Row>& rows, double precision);

  // Returns the times of rows beside those of the moment before, on rank 0.
  const std::vector<TimedTwice>& apart() const { return apart_; }

 private:
  struct Point {
    std::vector<std::vector<Row>> moments;  // each has the rows that run() returns
    double at_s = 0;                        // when the last one was
  };
  double take(std::size_t point);  // returns how long it took
  std::vector<Row> combined_rows(std::size_t point, const std::vector<Row>& rows,
                                 double precision) const;

  BenchmarkRunner& runner_;
  Rank& rank_;
  const Collective& collective_;
  std::span<const SweepPoint> series_;
  double budget_s_;
  double spent_s_ = 0;  // on moments after rows
  std::vector<Point> points_;
  std::vector<TimedTwice> apart_;
};

// The most points of a series: so many rows wait until their earlier moments are measured.
inline constexpr std::size_t longest_series = 64;

}  // namespace ccl_tests
