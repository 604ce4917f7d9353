// A rank from its first meeting with the others to its last: who is where, what fits, the library's
// communicator, the sweep.
#pragma once

#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "src/bootstrap/launch.hpp"
#include "src/core/backend.hpp"
#include "src/core/collective.hpp"
#include "src/options.hpp"
#include "src/progress.hpp"
#include "src/recorder.hpp"
#include "src/watchdog.hpp"
#include "verify/pattern.hpp"

namespace ccl {

// The operations that other threads may have to be torn out of. Thread-safe.
class OpenCommunicators {
 public:
  void add(Communicator* communicator);
  void remove(Communicator* communicator);
  void abort_all();

 private:
  std::mutex mutex_;
  std::set<Communicator*> open_;
};

// What the ranks of a process share.
struct RankJob {
  const Collective& collective;
  const Options& options;
  const std::vector<std::string>& arguments;  // as given, for the files
  const Launch& launch;
  const Backend& backend;
  Recorder& recorder;
  std::vector<std::string> notes;  // header comment lines that are known before the ranks meet
  std::function<void(const std::string&)> log;  // a line for stderr
  verify::PatternCache& patterns;
  OpenCommunicators& open;
  double started_s = 0;  // CLOCK_MONOTONIC at the program's first line
};

// What a program does on each of its ranks.
using RankBody = void (*)(RankJob& job, Bootstrap& bootstrap, Progress& progress, Pulse& pulse,
                          bool first_of_process);

// The sweep of a collective. Collective over bootstrap's ranks. first_of_process: this rank's
// thread feeds the recorder. Throws what the library, a peer or the memory limit throws.
void run_rank(RankJob& job, Bootstrap& bootstrap, Progress& progress, Pulse& pulse,
              bool first_of_process);

}  // namespace ccl
