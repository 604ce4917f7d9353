// nccl-tests' batch mode: the mean time of a fixed number of operations, issued one after the
// other.
#pragma once

#include <cstddef>
#include <functional>

#include "src/core/clock.hpp"

namespace ccl_tests {

// nccl-tests' -z. none: issue everything, wait once. barrier_inside: wait and barrier after each
// operation, both in the time. wait: wait after each. barrier_outside: wait and barrier after each
// iteration, the barrier not in the time.
enum class Blocking : int { none = 0, barrier_inside = 1, wait = 2, barrier_outside = 3 };

struct BatchPlan {
  int iterations = 0;
  int aggregate = 1;  // operations per iteration
  Blocking blocking = Blocking::none;
};

// What a batch is made of. issue(k) starts operation k < iterations * aggregate.
struct BatchActions {
  std::function<void(std::size_t)> issue;
  std::function<void()> wait;
  std::function<void()> barrier;
  std::function<double()> now;  // seconds
};

// Seconds per operation of this rank.
struct BatchTime {
  double wall = 0;
  double issue = 0;  // until the last operation had been issued, before the wait
};

// Collective: barrier, then the batch. 0 iterations: no barrier, times 0.
BatchTime time_batch(const BatchPlan& plan, const BatchActions& actions);

// How many of `wanted` iterations fit into limit_s when one takes iteration_s: at least 1 of them.
// limit_s 0: all.
int capped_iterations(int wanted, double iteration_s, double limit_s);

// nccl-tests' -a over ranks.
enum class Average : int { rank0 = 0, mean = 1, min = 2, max = 3 };
double average(Average how, const double* per_rank, std::size_t ranks);

}  // namespace ccl_tests
