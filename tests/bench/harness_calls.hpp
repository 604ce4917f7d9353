// all_reduce calls of one rank as the harness makes and times them, for comparison with a bare loop.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "collectives/collectives.hpp"
#include "src/core/composed.hpp"
#include "src/core/operation.hpp"
#include "src/devices/devices.hpp"
#include "src/devices/host_limits.hpp"
#include "src/measure/measurement.hpp"
#include "src/run/operation_workload.hpp"

namespace ccl_tests::bench {

// Sums of floats, out of place, on the slots that a row of `bytes` has. Used by one thread.
class HarnessCalls {
 public:
  HarnessCalls(Communicator& communicator, int rank, int ranks, std::size_t bytes,
               std::size_t calls)
      : communicator_(communicator),
        self_{rank, ranks},
        calls_(calls),
        slots_(plan_slots(bytes, 0, {calls, CacheUse::warm, core_cache_bytes()})),
        groups_(SplitRule(), std::vector<std::string>(static_cast<std::size_t>(ranks))),
        problem_(problem(collectives::all_reduce,
                         {DataType::float32, ReduceOp::sum, 0, bytes, &groups_, 0}, options_,
                         rank)),
        device_(host_devices().open(0)),
        arena_(communicator, *device_, slots_.end()),
        operation_(communicator),
        verifier_(
            std::make_shared<const verify::Pattern>(DataType::float32, ReduceOp::sum, ranks, 1),
            rank),
        workload_(problem_, Form::out_of_place, {.slots = slots_, .clock = clock_}, arena_,
                  communicator, operation_, verifier_, activity_) {}

  // Collective. Returns this rank's seconds per call.
  double time() {
    const BlockPlan plan{.samples = 1, .calls = calls_};
    workload_.prepare(plan);
    struct Enter : Barrier {
      explicit Enter(HarnessCalls& c) : calls(c) {}
      void wait() override { calls.barrier(); }
      HarnessCalls& calls;
    } barrier(*this);
    return take_block(plan, workload_, barrier, clock_).at(0).seconds() /
           static_cast<double>(calls_);
  }
  void barrier() { composed::dissemination_barrier(communicator_, self_); }

  std::size_t slots() const { return slots_.count; }
  float* send(std::size_t slot) const {
    return reinterpret_cast<float*>(arena_.send() + slots_.offset(slot));
  }
  float* recv(std::size_t slot) const {
    return reinterpret_cast<float*>(arena_.recv() + slots_.offset(slot));
  }

 private:
  Communicator& communicator_;
  GroupRank self_;
  std::size_t calls_;
  Slots slots_;
  CollectiveOptions options_;
  RankGroups groups_;
  Problem problem_;
  std::unique_ptr<Device> device_;
  Arena arena_;
  LibraryCall<&Communicator::all_reduce> operation_;
  verify::Verifier verifier_;
  Activity activity_;
  Clock clock_;
  OperationWorkload workload_;
};

}  // namespace ccl_tests::bench
