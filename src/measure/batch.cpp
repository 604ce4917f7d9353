#include "src/measure/batch.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

namespace ccl_tests {

BatchTime time_batch(const BatchPlan& plan, const BatchActions& a) {
  if (plan.iterations == 0) return {};
  const auto aggregate = static_cast<std::size_t>(plan.aggregate);
  const std::size_t operations = static_cast<std::size_t>(plan.iterations) * aggregate;
  const bool wait_each =
      plan.blocking == Blocking::barrier_inside || plan.blocking == Blocking::wait;
  double excluded = 0;
  a.barrier();
  const double start = a.now();
  for (std::size_t k = 0; k < operations; ++k) {
    a.issue(k);
    if (wait_each) a.wait();
    if (plan.blocking == Blocking::barrier_inside) a.barrier();
    if (plan.blocking == Blocking::barrier_outside && (k + 1) % aggregate == 0) {
      a.wait();
      const double before = a.now();
      a.barrier();
      excluded += a.now() - before;
    }
  }
  const double issued = a.now();
  a.wait();
  const double end = a.now();
  const auto n = static_cast<double>(operations);
  return {(end - start - excluded) / n, (issued - start - excluded) / n};
}

int capped_iterations(int wanted, double iteration_s, double limit_s) {
  if (limit_s <= 0 || iteration_s <= 0 || wanted <= 1) return wanted;
  const double fitting = limit_s / iteration_s;
  return fitting >= wanted ? wanted : std::max(1, static_cast<int>(fitting));
}

double average(Average how, const double* per_rank, std::size_t ranks) {
  const double* const end = per_rank + ranks;
  switch (how) {
    case Average::rank0: return per_rank[0];
    case Average::mean: return std::accumulate(per_rank, end, 0.0) / static_cast<double>(ranks);
    case Average::min: return *std::min_element(per_rank, end);
    case Average::max: return *std::max_element(per_rank, end);
  }
  return 0;
}

}  // namespace ccl_tests
