// Rows whose times have intervals: what streams and single samples have in common.
#pragma once

#include "tests/ranks/faulty.hpp"
#include "tests/ranks/world.hpp"

namespace ccl_tests::test {

// Options of a quick run whose rows are streams, on `ranks` threads.
inline Options with_intervals(int ranks) {
  Options o = quick(ranks);
  o.measure.batch = false;
  o.measure.warmup_given = false;
  o.measure.precision = 1;  // what is taken at least
  return o;
}

// Runs one row on a library that changes one element of the last rank's results in every call of a
// block, and expects that the row says so, in place too.
inline void expect_wrong_elements_found(Options o) {
  const int last = o.job.threads.value() - 1;
  Fault fault;
  fault.after = [last](int rank, int number, const Call& call) {
    constexpr int singles = 2;
    if (rank == last && number >= singles) static_cast<std::byte*>(call.recv)[0] ^= std::byte{1};
  };
  o.sweep.sizes = {1000};
  const Outcome outcome = run(collectives::all_reduce, o, FaultyBackend(fault));
  EXPECT_EQ(outcome.exit_code, 7);
  EXPECT_GE(outcome.rows.at(0).out_of_place.wrong, 1U);
  EXPECT_GE(outcome.rows.at(0).in_place.wrong, 1U);
  EXPECT_EQ(outcome.rows.at(0).out_of_place.failed_ranks, 1U);
}

}  // namespace ccl_tests::test
