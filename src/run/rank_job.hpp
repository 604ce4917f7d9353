// A rank from its first meeting with the others to its last: who is where, what fits, the library's
// communicator, the sweep.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/bootstrap/launch.hpp"
#include "src/core/backend.hpp"
#include "src/core/collective.hpp"
#include "src/options/options.hpp"
#include "src/report/multi_reporter.hpp"
#include "src/run/progress.hpp"
#include "src/run/rank_device.hpp"
#include "src/run/staging.hpp"
#include "src/run/watchdog.hpp"
#include "verify/pattern.hpp"

namespace ccl_tests {

// The communicators of a process's ranks. One whose rank failed stays open until the job has said
// why: closing it would fail the others, with a message that hides the cause. Thread-safe.
class OpenCommunicators {
 public:
  Communicator& add(std::unique_ptr<Communicator> communicator);
  Device& keep(std::unique_ptr<Device> device);  // until all communicators are gone
  void close(Communicator& communicator);
  // Makes operations that are under way fail.
  void abort_all();
  // Never closes the rest: a rank is stuck in one of them.
  void abandon();

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::unique_ptr<Communicator>> open_;
};

// What the ranks of a process share.
struct RankJob {
  const Collective& collective;
  const Options& options;
  const std::vector<std::string>& arguments;  // as given, for the files
  const Launch& launch;
  const Backend& backend;
  const Staging& staging;
  MultiReporter& recorder;
  std::vector<Note> notes;                      // of the header, known before the ranks meet
  std::function<void(const std::string&)> log;  // a line for stderr
  verify::PatternCache& patterns;
  OpenCommunicators& open;
  double started_s = 0;  // CLOCK_MONOTONIC at the program's first line
};

// What a program does on each of its ranks.
using RankBody = void (*)(RankJob& job, ControlChannel& channel, Progress& progress, Pulse& pulse,
                          bool first_of_process);

// Collective: throws UsageError that names the ranks which were told something else.
void require_same_settings(const RankJob& job, ControlChannel& channel);

// A communicator over channel's ranks, kept by job.open. gpu: this rank's; null: none is used.
// Collective. Throws what the library throws.
Communicator& connect(RankJob& job, ControlChannel& channel, Device* gpu, Pulse& pulse);

// Opens this rank's GPU, kept by job.open; null: the run uses none. ranks: where every rank's
// identity goes; may be null. Collective. Throws Error.
Device* open_gpu(RankJob& job, ControlChannel& channel, std::vector<DeviceIdentity>* ranks);

// The sweep of a collective. Collective over channel's ranks. first_of_process: this rank's
// thread feeds the recorder. Throws what the library, a peer or the memory limit throws.
void run_rank(RankJob& job, ControlChannel& channel, Progress& progress, Pulse& pulse,
              bool first_of_process);

}  // namespace ccl_tests
