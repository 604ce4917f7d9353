#include "src/measure/measurement.hpp"

#include "src/measure/block.hpp"

namespace ccl_tests {

void measure(StoppingCriterion* criterion, Workload& workload, Barrier& barrier, const Clock& clock,
             Coordinator& coordinator) {
  for (;;) {
    const Step step = coordinator.agree(criterion != nullptr ? criterion->next() : Step{});
    if (step.kind == Step::Kind::done) return;
    Samples mine;
    if (step.kind == Step::Kind::block) {
      workload.prepare(step.block);
      mine = take_block(step.block, workload, barrier, clock);
      workload.verify();
    } else {
      mine = workload.make(step.single);
    }
    const std::vector<Samples> ranks = coordinator.gather(mine);
    if (criterion != nullptr) criterion->add(step, ranks);
  }
}

}  // namespace ccl_tests
