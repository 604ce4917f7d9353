// Cells of the table as ranks measure them whose calls take what they are told: for tests of what
// decides how much is measured.
#pragma once

#include <cstdint>
#include <numeric>
#include <stdexcept>
#include <vector>

#include "src/measure/estimate.hpp"
#include "src/measure/stopping.hpp"
#include "src/measure/stream_criterion.hpp"
#include "tests/unit/noise.hpp"

namespace ccl_tests::test {

// Of each sample rank 0 enters first, the others one lateness after the other, and all leave together.
class FakeRanks {
 public:
  FakeRanks(const Noise::Shape& shape, std::uint64_t seed, int ranks, double lateness_s = 0)
      : noise_(shape, seed), ranks_(ranks), lateness_s_(lateness_s) {}

  std::vector<Samples> take(const Step& step) {
    const bool singles = step.kind == Step::Kind::single_calls;
    const std::size_t samples = singles ? step.single.calls : step.block.samples;
    const std::size_t calls = singles ? 1 : step.block.calls;
    std::vector<Samples> all(static_cast<std::size_t>(ranks_));
    for (std::size_t s = 0; s < samples; ++s) {
      double seconds = 0;
      for (std::size_t k = 0; k < calls; ++k) seconds += noise_.next();
      const double end = now_ + seconds;
      for (int r = 0; r < ranks_; ++r)
        all[static_cast<std::size_t>(r)].push_back({now_ + r * lateness_s_, end, end});
      now_ = end + barrier_s;
    }
    return all;
  }

 private:
  static constexpr double barrier_s = 2e-6;
  Noise noise_;
  int ranks_;
  double lateness_s_;
  double now_ = 1000;
};

// All that a cell of `goal` takes on ranks with such noise, which are one group.
template <class Criterion>
struct Cell {
  explicit Cell(PrecisionGoal goal, const Noise::Shape& shape, std::uint64_t seed = 1,
                int ranks = 2)
      : criterion([&] {
          goal.groups = {std::vector<int>(static_cast<std::size_t>(ranks))};
          std::iota(goal.groups[0].begin(), goal.groups[0].end(), 0);
          return goal;
        }()) {
    FakeRanks fake(shape, seed, ranks);
    for (;;) {
      const Step step = criterion.next();
      if (step.kind == Step::Kind::done) return;
      steps.push_back(step);
      criterion.add(step, fake.take(step));
      if (steps.size() > 10'000) throw std::runtime_error("the cell has no end");
    }
  }

  // The estimate of rank 0's times.
  Estimate found() const {
    const int first[] = {0};
    return estimate(stamp_times(criterion.taken().samples, first, Average::rank0,
                                criterion.taken().calls_per_stamp),
                    Statistic::median);
  }

  Criterion criterion;
  std::vector<Step> steps;
};

// Returns how many of 300 cells end with an interval that contains the median of their noise.
template <class Criterion>
int intervals_that_hold(const PrecisionGoal& goal, const Noise::Shape& shape) {
  int holds = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    const Estimate found = Cell<Criterion>(goal, shape, seed, 1).found();
    if (found.low <= shape.median && shape.median <= found.high) ++holds;
  }
  return holds;
}

}  // namespace ccl_tests::test
