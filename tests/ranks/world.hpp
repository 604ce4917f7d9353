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
  o.job.threads = ranks;
  o.sweep.sizes = {8, 1000, 40'000};
  o.measure.iterations = 3;
  o.backend.init_timeout_s = 20;
  o.job.timeout_s = 20;
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
  options.sweep.types = taken(options.sweep.types, collective.types);
  options.sweep.ops = taken(options.sweep.ops, collective.ops);
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

// The composites, in all their modes.
inline const std::vector<const Collective*>& all_composites() {
  using namespace collectives;
  static const std::vector<const Collective*> all = {
      &all_gather_object, &all_reduce_dict,   &all_reduce_params,   &average_metrics,
      &broadcast_object,  &broadcast_tensors, &check_tensors,       &collect_results,
      &gather_object,     &reduce_dict,       &sync_buffer,         &sync_grad,
      &sync_seed,         sync_seed.modes[0], sync_buffer.modes[0],
  };
  return all;
}

inline std::vector<const Collective*> all_collectives() {
  using namespace collectives;
  std::vector<const Collective*> all = {
      &all_gather, &all_gatherv, &all_reduce,       &alltoall,        &alltoallv,
      &barrier,    &broadcast,   &gather,           &gatherv,         &hypercube,
      &pingpong,   &reduce,      &reduce_scatter,   &reduce_scatterv, &scatter,
      &scatterv,   &sendrecv,    sendrecv.modes[0], sendrecv.modes[1]};
  all.insert(all.end(), all_composites().begin(), all_composites().end());
  return all;
}

// Does the program run on so many ranks?
inline bool runs_on(const Collective& collective, int ranks) {
  const CollectiveOptions options;
  if (collective.paired) return ranks > 1;
  return collective.unsupported == nullptr || !collective.unsupported({0, 4, {0, ranks}, options});
}

}  // namespace ccl_tests::test
