// A reporter that keeps what it is told, behind the one that decides: for tests of both.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "src/report/run_results.hpp"

namespace ccl_tests::test {

struct Seen {
  int begun = 0, rows = 0, ended = 0, before = 0;
  std::vector<Row> all;
  RunSummary summary;
  std::vector<std::string> output_files;
  std::vector<int> hosts;  // of each row
};

inline std::vector<std::string> missed(const RunSummary& summary) {
  return limit_lines(summary.limits, LimitVerdict::missed);
}
inline std::vector<std::string> undecided(const RunSummary& summary) {
  return limit_lines(summary.limits, LimitVerdict::undecided);
}

class SpyReporter : public Reporter {
 public:
  explicit SpyReporter(Seen& seen) : seen_(seen) {}
  std::string path() const override { return "x.json"; }
  void begin(const RunInfo& run) override {
    ++seen_.begun;
    seen_.output_files = run.output_files;
  }
  void row(const Row& row) override {
    ++seen_.rows;
    seen_.all.push_back(row);
    seen_.hosts.push_back(row.hosts.value_or(0));
  }
  void end(const RunSummary& summary) override {
    ++seen_.ended;
    seen_.summary = summary;
  }

 private:
  Seen& seen_;
};

class RunResultsTest : public testing::Test {
 protected:
  RunResults& reporter() {
    if (!reporter_) {
      reporter_ = std::make_unique<RunResults>(options);
      reporter_->add(std::make_unique<SpyReporter>(seen));
      reporter_->before_print([this] { ++seen.before; });
      reporter_->begin({});
    }
    return *reporter_;
  }

  static Row row(double busbw, double seconds) {
    Row row;
    row.bytes = 1000;
    row.op = ReduceOp::sum;
    for (Measurement* cell : {&row.out_of_place, &row.in_place}) {
      cell->busbw = busbw;
      cell->seconds = seconds;
      cell->iterations = 20;
      cell->calls = 21;
      cell->verified_calls = 10;
      cell->wrong = 0;
    }
    return row;
  }

  Options options;
  Seen seen;

 private:
  std::unique_ptr<RunResults> reporter_;
};

}  // namespace ccl_tests::test
