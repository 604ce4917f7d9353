// The whole job inside one test: run_job with ranks on threads, its rows and summary collected.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "collectives/collectives.hpp"
#include "src/backends/registry.hpp"
#include "src/run/job.hpp"

namespace ccl_tests::test {

struct Outcome {
  int exit_code = -1;
  std::vector<Row> rows;
  RunSummary summary;
  std::vector<std::string> log;

  std::string text() const {
    std::string all;
    for (const std::string& line : log) all += line + '\n';
    return all;
  }
};

class Collector : public Reporter {
 public:
  explicit Collector(Outcome& outcome) : outcome_(outcome) {}
  void begin(const RunInfo& /*run*/) override {}
  void row(const Row& row) override { outcome_.rows.push_back(row); }
  void end(const RunSummary& summary) override { outcome_.summary = summary; }

 private:
  Outcome& outcome_;
};

// Options of a quick run on `ranks` threads.
inline Options quick(int ranks) {
  Options o;
  o.threads = ranks;
  o.sizes = {8, 1000, 40'000};
  o.iterations = 3;
  o.init_timeout_s = 20;
  o.timeout_s = 20;
  return o;
}

// What of `asked` a program takes; its own first where that is nothing. some: empty for everything.
template <class T>
std::vector<T> taken(std::vector<T> asked, std::span<const T> some) {
  if (some.empty()) return asked;
  std::erase_if(asked,
                [&](T value) { return std::find(some.begin(), some.end(), value) == some.end(); });
  return asked.empty() ? std::vector<T>{some.front()} : asked;
}

inline Outcome run(const Collective& collective, Options options, const Backend& backend,
                   const Staging& placement = {}) {
  options.types = taken(options.types, collective.domain.types);
  options.ops = taken(options.ops, collective.domain.ops);
  Outcome outcome;
  std::vector<std::unique_ptr<Reporter>> reporters;
  reporters.push_back(std::make_unique<Collector>(outcome));
  MultiReporter recorder(options, std::move(reporters));
  const Launch launch;
  const auto control = alone();
  FailureBox failure;
  Progress progress;
  Job job{collective, options, {},
          launch,     backend, placement,
          *control,   failure, recorder,
          progress,   {},      [&](const std::string& line) { outcome.log.push_back(line); }};
  const JobEnd end = run_job(job);
  EXPECT_TRUE(end.ranks_ended);
  outcome.exit_code = end.exit_code;
  return outcome;
}

// Returns every form of every program.
inline std::vector<const Collective*> all_collectives() {
  std::vector<const Collective*> forms;
  for (const Collective* program : collectives::all()) {
    forms.push_back(program);
    forms.insert(forms.end(), program->modes.begin(), program->modes.end());
  }
  return forms;
}

// Returns whether the program runs on so many ranks.
inline bool runs_on(const Collective& collective, int ranks) {
  const CollectiveOptions options;
  if (collective.domain.paired) return ranks > 1;
  return collective.unsupported == nullptr || !collective.unsupported({0, 4, {0, ranks}, options});
}

}  // namespace ccl_tests::test
