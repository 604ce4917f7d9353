// Runs with chosen times, for tests of ccl_compare.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tools/compare/files.hpp"
#include "tools/compare/pairs.hpp"

namespace ccl_tests::compare::test {

inline RowKey key(std::size_t bytes) {
  return {bytes, DataType::float32, ReduceOp::sum, {}, {}, {}, false};
}

// One row of 8 B whose base takes 1 s and whose head takes `ratios` seconds.
inline Matched with_ratios(const std::vector<double>& ratios, std::size_t bytes = 8) {
  Matched matched;
  for (const double ratio : ratios) {
    matched.rows[key(bytes)].base.push_back({1, {}});
    matched.rows[key(bytes)].head.push_back({ratio, {}});
  }
  return matched;
}

inline Matched single(RowTime base, RowTime head) {
  Matched matched;
  matched.rows[key(8)] = {{base}, {head}};
  return matched;
}

// A run of all_reduce_perf with one row, both of whose placements take `seconds`.
inline NamedRun run_of(const std::string& name, double seconds = 1e-5) {
  NamedRun named;
  named.name = name;
  RunInfo& info = named.run.info;
  info.program = "all_reduce_perf";
  info.backend = "gloo";
  info.version = "0.1.0";
  info.library_version = "1.0";
  info.ranks = 2;
  info.precision = 0.02;
  info.cache = "warm";
  info.start_time = "2026-11-20T22:33:44.125+01:00";
  info.rank_lines = {{.host = "node1", .device_name = "CPU model A"},
                     {.host = "node1", .device_name = "CPU model A"}};
  Row row;
  row.bytes = 8;
  row.count = 2;
  row.op = ReduceOp::sum;
  for (Measurement* cell : {&row.out_of_place, &row.in_place}) {
    cell->seconds = seconds;
    cell->stream = StreamTimes{.low = seconds * 0.99, .high = seconds * 1.01};
  }
  named.run.rows = {row};
  named.run.summary = RunSummary{};
  return named;
}

}  // namespace ccl_tests::compare::test
