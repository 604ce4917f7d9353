// An earlier run whose times this one is held to: --baseline.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>

#include "src/report/limits.hpp"
#include "src/report/record.hpp"
#include "src/report/row_key.hpp"

namespace ccl_tests {

class Baseline {
 public:
  // Reads the last run of a .jsonl file. tolerance: by what share of the earlier one a time may be
  // longer. Throws UsageError if the file cannot be read, or its run has no times or wrong data.
  Baseline(std::string path, double tolerance);

  const std::string& path() const { return path_; }

  // Throws UsageError if `run` measures something else (comparable.hpp).
  void check(const RunInfo& run) const;

  // Returns what the earlier run's time says of one of the row's; nullopt: it has no such time. rule:
  // of this run; the earlier one knows how far its own times repeat.
  std::optional<LimitFinding> hold(const Row& row, bool in_place, std::size_t requested,
                                   const JudgeRule& rule) const;

 private:
  std::string path_;
  double tolerance_;
  RunInfo run_;
  double moments_ = 0;
  std::map<RowKey, Measurement> times_;  // of cycles the one in the middle
};

}  // namespace ccl_tests
