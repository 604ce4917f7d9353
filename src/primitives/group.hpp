// A rank's membership in a group of ranks, which all primitives take.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/core/bootstrap.hpp"
#include "src/core/communicator.hpp"
#include "src/primitives/buffer.hpp"
#include "src/primitives/step_times.hpp"

namespace ccl::primitives {

// Ranks, sources and destinations are the group's own, 0 .. ranks() - 1. A group of one rank is
// nothing special: every primitive gives what a world of one would. Used by one thread.
class Group {
 public:
  // Both have the group's ranks and must outlive it: `bootstrap` serves the checks and files beside
  // the library, `communicator` carries the data. control_limit_s: of one exchange over bootstrap.
  Group(Bootstrap& bootstrap, Communicator& communicator, double control_limit_s = 120)
      : bootstrap_(bootstrap), communicator_(communicator), control_limit_s_(control_limit_s) {}

  int rank() const { return bootstrap_.rank(); }
  int ranks() const { return bootstrap_.ranks(); }
  bool is_main() const { return rank() == 0; }
  bool is_distributed() const { return ranks() > 1; }

  // Calls f on rank 0, nothing elsewhere. Not collective.
  template <class F>
  void main_only(F&& f) const {
    if (is_main()) std::forward<F>(f)();
  }

  // Collective: returns when all ranks have come. The library's barrier.
  void barrier();

  // Collective: every rank's bytes, over the control plane. Throws Error, Timeout.
  std::vector<std::string> exchange(std::string_view bytes) {
    return bootstrap_.exchange(bytes, control_limit_s_);
  }

  // This rank's call of one operation. Throws UsageError when there is no rank `root`.
  Call call(const void* send, void* recv, std::size_t count, DataType type,
            ReduceOp op = ReduceOp::sum, int root = 0) const;

  Communicator& communicator() { return communicator_; }
  Workspace& workspace() { return workspace_; }
  StepTimes& times() { return times_; }
  StepClock step_clock() { return {communicator_, times_}; }

 private:
  Bootstrap& bootstrap_;
  Communicator& communicator_;
  double control_limit_s_;
  Workspace workspace_;
  StepTimes times_;
};

}  // namespace ccl::primitives
