// The whole job inside one test: its ranks on threads, its rows and summary collected.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "collectives/collectives.hpp"
#include "src/backends/registry.hpp"
#include "src/core/error.hpp"
#include "src/job/ranks.hpp"
#include "src/options/settings.hpp"
#include "src/run/sweep.hpp"

namespace ccl_tests::test {

struct Outcome {
  int exit_code = -1;
  RunInfo info;
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
  void begin(const RunInfo& run) override { outcome_.info = run; }
  void row(const Row& row) override { outcome_.rows.push_back(row); }
  void end(const RunSummary& summary) override { outcome_.summary = summary; }

 private:
  Outcome& outcome_;
};

inline bool nightly() { return std::getenv("CCL_NIGHTLY") != nullptr; }
// Returns whether a program is tried that says the same for 1 and 4 ranks as for 3.
inline bool at_one_number(int ranks) { return ranks == 3 || nightly(); }
inline std::vector<DataType> one_type_of_each_width() {
  return {DataType::int8, DataType::half, DataType::float32, DataType::int64};
}
// Returns the block lengths that a program can be asked for.
inline std::vector<Skew> skews(const Collective& collective) {
  if (!collective.flags.skew) return {Skew::equal};
  return {Skew::equal, Skew::linear};
}

// Options of a quick run on `ranks` threads.
inline Options quick(int ranks) {
  Options o;
  o.job.threads = ranks;
  o.sweep.sizes = {8, 1000, 40'000};
  o.measure.batch = true;  // streams_test.cpp has the others
  o.measure.iterations = 3;
  o.measure.warmup_given = true;  // exactly one call, so that faults know which call they change
  o.backend.init_timeout_s = 20;
  o.job.timeout_s = 20;
  o.spec.routing.hidden = 16;  // small sizes have tokens, too
  o.spec.routing.top_k = 3;
  o.spec.routing.experts = 11;
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
                   const Staging& staging = {}) {
  options.sweep.types = taken(options.sweep.types, collective.domain.types);
  options.sweep.ops = taken(options.sweep.ops, collective.domain.ops);
  Outcome outcome;
  RunResults results(options);
  results.add(std::make_unique<Collector>(outcome));
  const Launch launch;
  const auto control = alone();
  FailureBox failure;
  Activity activity;
  verify::PatternCache patterns;
  const JobSetup job = job_setup(collective, options, {});
  const Process process{job, launch, backend, staging,
                        [&](const std::string& line) { outcome.log.push_back(line); }};
  RanksEnd end;
  outcome.exit_code = run_ranks(
      process, *control, failure, activity,
      [&](Rank& rank) { return sweep(rank, collective, options, patterns, results); },
      [&](const RanksEnd& e) {
        return most_severe(e.exit_code, results.finish(e.failure, e.errors));
      },
      end);
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
