// The work that is timed: calls of an operation with their buffers, launches of a graph, ranks that
// wait.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "src/core/device.hpp"
#include "src/devices/process_counters.hpp"
#include "src/inject/injecting_communicator.hpp"
#include "src/job/activity.hpp"
#include "src/run/point.hpp"
#include "src/run/rank_report.hpp"
#include "verify/loops.hpp"

namespace ccl_tests {

class Communicator;

// Two big buffers of one rank, in the memory that its library wants them in. Out of place one holds
// what calls send and the other what they receive. In place a call works on one of them.
class Arena {
 public:
  // flush: bytes of the third buffer. Collective if the library registers buffers. Throws Error.
  Arena(Communicator& communicator, Device& device, std::size_t bytes, std::size_t flush = 0);

  // Writes the send buffer for so long that an idle GPU raises its clock. Not collective.
  void raise_clocks(verify::Loops& loops, double seconds) const;

  std::byte* send() const { return send_.data(); }
  std::byte* recv() const { return recv_.data(); }
  // No call uses it: writing it takes the caches from the other two.
  const Buffer& flush() const { return flush_; }

 private:
  Buffer send_, recv_, flush_;
  std::unique_ptr<Registration> registrations_[2];
};

// Returns a timeline of the library, or one that waits for the communicator at every mark.
std::unique_ptr<Timeline> make_timeline(Communicator& communicator, std::size_t marks);

enum class Form { out_of_place, in_place };

// The way in which the calls of a row are made.
struct CallPlan {
  Slots slots;
  std::size_t first_phase = 0;   // of the patterns that this form uses
  std::size_t aggregate = 1;     // calls of an iteration
  bool together = false;         // the library may issue an iteration's calls as one
  bool verifies = true;          // results are compared; otherwise buffers are filled only
  bool new_patterns = false;     // in each block, so that no result is that of the block before
  double limit_s = 0;            // of one call, until the watchdog ends the job; 0: none
  Timeline* timeline = nullptr;  // marked behind each iteration of a block (-I)
  EventCounters* counters = nullptr;  // of timed blocks
  Injector* injector = nullptr;       // is told which calls are timed
  const Clock& clock;
};

// Calls rotate over the slots of the arena, each slot with a pattern of its own. In place,
// repeating a reduction changes its input: there the last call runs in the otherwise idle second
// buffer, filled before the clock starts, if slots are used more than once.
class OperationWorkload : public Workload {
 public:
  // All must outlive it.
  OperationWorkload(const Problem& problem, Form form, const CallPlan& plan, const Arena& arena,
                    Communicator& communicator, Operation& operation,
                    const verify::Verifier& verifier, Activity& activity);

  Samples make(const SingleCalls& plan) override;
  void prepare(const BlockPlan& plan) override;
  void issue(std::size_t first, std::size_t calls) override;
  void begin() override;
  Timeline* marks() override { return marks_.get(); }
  void wait() override;
  void verify() override;

  // Returns what this rank's calls were, what was wrong, and what happened in each timed block.
  RankReport report() const;
  // Calls a barrier with one rank after the other made late, for RankReport::barrier. Collective.
  void enter_barriers(Clock& clock);

  // For blocks that run more than once (graphs). Returns true if running again changes the results.
  bool changes_input() const {
    return form_ == Form::in_place && problem_.collective->domain.reduces;
  }
  void refill();
  void check_results();
  void count(std::size_t calls) { report_.calls += calls; }
  // Counts events from directly before the clock starts until it has stopped.
  void start_counting() {
    if (plan_.counters != nullptr) plan_.counters->begin();
  }
  void stop_counting() {
    if (plan_.counters != nullptr) report_.blocks.push_back(plan_.counters->end());
  }
  // The next wait() is for so many calls.
  void set_issued(std::size_t calls) { issued_ = calls; }

 private:
  // Where one call's data lie. phase: which of the pattern's slots they are in.
  struct Buffers {
    std::byte* send = nullptr;
    std::byte* recv = nullptr;
    std::byte* region = nullptr;  // in place: the one buffer that holds both
    std::size_t region_bytes = 0;
    std::size_t phase = 0;
  };

  Buffers buffers(std::size_t slot);
  Buffers in_place(std::byte* buffer, std::size_t slot);
  void flush_caches() const;  // if the arena has a buffer for it
  void fill(const Buffers& b) const;
  void check(const Buffers& b);
  // Inline: on the clock.
  void issue_one(const Call& call) {
    inside_library(activity_, [&] { operation_.run(call); });
  }
  void issue_iterations(std::size_t first, std::size_t calls);

  const Problem& problem_;
  Form form_;
  CallPlan plan_;
  const Arena& arena_;
  Communicator& communicator_;
  Operation& operation_;
  const verify::Verifier& verifier_;
  Activity& activity_;
  RankReport report_;  // without the steps
  std::size_t next_phase_;
  std::optional<std::size_t>
      block_phase_;  // the first of every block: blocks repeat their patterns
  std::vector<Buffers> slots_;
  std::vector<Call> calls_;  // one for each slot
  std::optional<Buffers> fresh_;
  Call fresh_call_;
  std::size_t total_ = 0, timed_ = 0;  // calls of the block
  std::size_t at_ = 0;                 // the slot of the next call
  std::size_t issued_ = 0;             // calls that have not been waited for
  std::unique_ptr<Timeline> marks_;    // of a stream on a GPU
  StepTimes before_, after_;
};

// A block of calls that is captured once and launched as a whole (-G). The first launch, on fresh
// buffers, is not timed but checked. The last one is checked if launching again gives the same.
class GraphWorkload : public Workload {
 public:
  // All must outlive it. A block's timed calls are what one launch makes. meet: of all ranks,
  // between making a graph, which takes memory and so may wait for peers, and its first launch.
  GraphWorkload(OperationWorkload& calls, Communicator& communicator, std::size_t launches,
                const std::function<void()>& meet)
      : calls_(calls), communicator_(communicator), launches_(launches), meet_(meet) {}

  Samples make(const SingleCalls& plan) override { return calls_.make(plan); }
  void prepare(const BlockPlan& plan) override;
  void issue(std::size_t first, std::size_t calls) override;
  void begin() override { calls_.start_counting(); }
  void wait() override { calls_.wait(); }
  void verify() override;

 private:
  OperationWorkload& calls_;
  Communicator& communicator_;
  std::size_t launches_;
  const std::function<void()>& meet_;
  std::size_t calls_of_launch_ = 0;
  std::unique_ptr<Graph> graph_;
};

// A rank that has nothing to do while others are measured. Makes its empty calls, and is silent
// until the others are probably done.
class IdleWorkload : public Workload {
 public:
  // All must outlive it. calls: of a problem that this rank does not take part in. meet: what the
  // others' workload calls when it is prepared.
  IdleWorkload(OperationWorkload& calls, Clock& clock, const std::function<void()>& meet)
      : calls_(calls), clock_(clock), meet_(meet) {}
  Samples make(const SingleCalls& plan) override { return calls_.make(plan); }
  void prepare(const BlockPlan& plan) override {
    expected_s_ = plan.expected_s;
    calls_.prepare(plan);
    meet_();
  }
  void issue(std::size_t first, std::size_t calls) override { calls_.issue(first, calls); }
  void begin() override {
    start_ = clock_.now();
    calls_.begin();
  }
  void wait() override { calls_.wait(); }
  void verify() override {
    calls_.verify();
    clock_.sleep_for(std::max(0.0, expected_s_ - (clock_.now() - start_)));
  }

 private:
  OperationWorkload& calls_;
  Clock& clock_;
  const std::function<void()>& meet_;
  double expected_s_ = 0, start_ = 0;
};

}  // namespace ccl_tests
