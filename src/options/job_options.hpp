// Which ranks a job has and which library they test.
#pragma once

#include <optional>
#include <string>

namespace ccl_tests {

struct JobOptions {
  std::optional<int> threads, ranks_per_thread;  // nullopt: not asked for
  int local_processes = 0;                       // to start; 0: none
  std::string launcher = "auto";
  std::string backend = "auto";
  std::string library;        // file of the library under test; empty: the installed one
  std::string bind = "none";  // ranks to CPUs: "numa", "auto"
  double timeout_s = 60;      // of one wait, beside what its bytes take; 0: none
  bool parallel_init =
      false;  // kept for nccl-tests' header line: threads always initialise at once

  int ranks_per_process() const { return threads.value_or(1) * ranks_per_thread.value_or(1); }
};

}  // namespace ccl_tests
