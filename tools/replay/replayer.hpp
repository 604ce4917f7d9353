// One rank's calls: their communicators, buffers and data.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/core/collective.hpp"
#include "src/job/rank.hpp"
#include "src/run/operation_workload.hpp"
#include "tools/replay/order.hpp"
#include "tools/replay/report.hpp"
#include "verify/verifier.hpp"

namespace ccl_tests::replay {

// Returns what a call leaves in the receive buffer. A part of alltoallv is in each rank's input of another slot, from element 0 on.
std::vector<ExpectedBlock> expected_blocks(const PlannedKind& kind);

// Used by the rank's thread. Functions throw what the library, a peer or a limit throws.
class Replayer {
 public:
  // world: of all ranks. All must outlive it. seed: of the data.
  Replayer(Rank& rank, const JobGroups& groups, const RankPlan& plan,
           verify::PatternCache& patterns, Communicator& world, std::uint64_t seed);

  // Connects the groups that have calls. Collective over all ranks.
  void connect(const std::vector<bool>& used);
  // Makes room for the largest calls. Collective over all ranks. Throws Unsupported if there is no room.
  void reserve();
  // Makes each call once, and compares what the calls left. Collective over all ranks.
  void verify_all(Outcome& outcome);
  // Makes all calls on the clock; with `gaps` none before its time in the trace, from the rank's first call on. Adds the seconds of
  // each call to `seconds`. Returns those from the first to the last. Collective over all ranks.
  double timed_pass(bool gaps, std::vector<double>& seconds);
  // Closes the communicators when all ranks have done with them. Collective over all ranks.
  void close();

 private:
  // Calls that are complete before the next one.
  struct Step {
    std::size_t begin = 0, end = 0;  // of RankPlan::calls
  };
  // What a kind of call needs on this rank.
  struct KindState {
    const verify::Verifier* verifier = nullptr;
    std::vector<ExpectedBlock> blocks;
    Extent elements;                 // of the two buffers
    std::size_t send = 0, recv = 0;  // bytes
    bool says = true;                // its results can be verified
    std::string text;
  };

  KindState state_of(const PlannedKind& kind);
  const PlannedKind& kind_of(const PlannedCall& call) const { return plan_.kinds[call.kind]; }
  const KindState& state_of(const PlannedCall& call) const { return kinds_[call.kind]; }
  std::size_t room(const PlannedCall& call) const;
  std::size_t room(const Step& step) const;
  void fill(const PlannedCall& call, std::byte* send, std::byte* recv) const;
  void check(const PlannedCall& call, std::byte* send, std::byte* recv, Outcome& outcome) const;
  void issue(const Step& step);
  double limit_s(const Step& step) const;

  // Calls f(call, send, recv) for the calls of a step and their buffers.
  template <class F>
  void each(const Step& step, const F& f) const {
    std::size_t offset = verify::guard_bytes;
    for (std::size_t k = step.begin; k < step.end; ++k) {
      f(plan_.calls[k], arena_->send() + offset, arena_->recv() + offset);
      offset += room(plan_.calls[k]);
    }
  }

  Rank& rank_;
  const JobGroups& groups_;
  const RankPlan& plan_;
  verify::PatternCache& patterns_;
  Communicator& world_;
  std::uint64_t seed_;
  std::unique_ptr<verify::Loops> loops_;
  std::vector<std::unique_ptr<ControlChannel>> channels_;
  std::vector<Communicator*> communicators_;  // by group; null: this rank is no member
  std::map<std::pair<std::size_t, const verify::Pattern*>, std::unique_ptr<verify::Verifier>>
      verifiers_;  // by group
  std::vector<KindState> kinds_;
  std::vector<Step> steps_;
  std::optional<Arena> arena_;
  std::size_t arena_bytes_ = 0;  // of each of its buffers
};

}  // namespace ccl_tests::replay
