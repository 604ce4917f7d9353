// How a row is timed.
#pragma once

#include <optional>

#include "src/options/cache_use.hpp"

namespace ccl_tests {

// What a link between two ranks gives in one direction: --ceiling.
struct CeilingOption {
  bool measured = false;           // auto: by a pingpong before the sweep
  std::optional<double> gb_per_s;  // as given
};

struct MeasureOptions {
  int iterations = 20, aggregate = 1, warmup = 1;
  bool warmup_given = false;  // exactly `warmup` untimed iterations; otherwise at least so many
  int average = 1;            // over ranks: 0 rank 0, 1 mean, 2 minimum, 3 maximum
  int blocking = 0;           // 0 wait once, 1 wait and barrier, 2 wait, 3 untimed barrier
  bool cpu_time = false;
  double precision =
      0.02;  // that the interval of a time shall have: half of its width over the time
  double time_budget_s = 0;  // of the timed calls of all rows; 0: 0.3 s for each time
  // nccl-tests' batch of `iterations`. Otherwise a stream of calls, until the time has its precision.
  bool batch = false;
  bool samples = false;           // single operations, each after a barrier, instead of a stream
  std::optional<CacheUse> cache;  // nullopt: warm in host memory, rotate on GPUs
  double row_time_s = 4;          // largest timed part of a row; 0: no limit
  int graph_launches = 0;         // 0: no graph
  bool per_iteration = false;
  int per_iteration_skip = 0;
  CeilingOption ceiling;
};

}  // namespace ccl_tests
