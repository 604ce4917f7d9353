#include "src/measure/measurement.hpp"

#include "src/measure/block.hpp"

namespace ccl_tests {

std::vector<Samples> measure(StoppingCriterion* criterion, Workload& workload, Barrier& barrier,
                             const Clock& clock, Coordinator& coordinator) {
  std::vector<Samples> blocks;
  for (;;) {
    const Step step = coordinator.agree(criterion != nullptr ? criterion->next() : Step{});
    if (step.kind == Step::Kind::done) return blocks;
    const bool is_block = step.kind == Step::Kind::block;
    Samples mine;
    if (is_block) {
      workload.prepare(step.block);
      mine = take_block(step.block, workload, barrier, clock);
      workload.verify();
    } else {
      mine = workload.make(step.single);
    }
    std::vector<Samples> ranks = coordinator.gather(mine);
    if (criterion != nullptr) criterion->add(step, ranks);
    if (is_block) blocks = std::move(ranks);
  }
}

}  // namespace ccl_tests
