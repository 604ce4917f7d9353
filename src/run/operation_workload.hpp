// One rank's calls of a row, with their buffers and their check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "src/core/clock.hpp"
#include "src/core/operation.hpp"
#include "src/devices/process_counters.hpp"
#include "src/inject/injector.hpp"
#include "src/job/activity.hpp"
#include "src/measure/workload.hpp"
#include "src/run/arena.hpp"
#include "src/run/problem.hpp"
#include "src/run/slots.hpp"
#include "verify/verifier.hpp"

namespace ccl_tests {

class Communicator;

enum class Form { out_of_place, in_place };

// What one rank's calls of one form were, and what checking them has found.
struct Tally {
  verify::Mismatch found;
  std::uint64_t calls = 0, verified = 0;
  void add(const Tally& later);
};

// How the calls of a row are made.
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

// Calls rotate over the slots of the arena, each slot with a pattern of its own. In place, repeating
// a reduction changes its input: there the last call runs in the otherwise idle second buffer, filled
// before the clock starts, if slots are used more than once.
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

  const Tally& tally() const { return tally_; }
  // What happened in each timed block.
  const std::vector<Evidence>& events() const { return events_; }
  // Returns the seconds of each step per timed call of the block.
  StepTimes steps() const;

  // For blocks that run more than once (graphs). Returns true if running again changes the results.
  bool changes_input() const {
    return form_ == Form::in_place && problem_.collective->domain.reduces;
  }
  void refill();
  void flush_caches() const;  // if the arena has a buffer for it
  void check_results();
  void count(std::size_t calls) { tally_.calls += calls; }
  void start_counting();  // directly before the clock starts
  void stop_counting();   // when it has stopped
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
  Tally tally_;
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
  std::vector<Evidence> events_;
};

}  // namespace ccl_tests
