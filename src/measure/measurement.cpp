#include "src/measure/measurement.hpp"

namespace ccl_tests {
namespace {

// Each call is waited for; barrier_inside: by all ranks.
void issue_one_by_one(std::size_t first, const BlockPlan& plan, Workload& workload,
                      Barrier& barrier) {
  for (std::size_t k = 0; k < plan.calls; ++k) {
    workload.issue(first + k, 1);
    workload.wait();
    if (plan.blocking == Blocking::barrier_inside) barrier.wait();
  }
}

// One reading of the clock for each sample.
void take_stream(Samples& samples, const BlockPlan& plan, Workload& workload, const Clock& clock) {
  std::size_t next = plan.untimed;
  double last = clock.now();
  for (Sample& sample : samples) {
    sample.start = last;
    workload.issue(next, plan.calls);
    workload.wait();
    sample.issued = sample.end = last = clock.now();
    next += plan.calls;
  }
}

// The device marks the ends of the samples, so that the next one is issued while it works.
void take_marked_stream(Samples& samples, const BlockPlan& plan, Workload& workload,
                        Timeline& marks) {
  std::size_t next = plan.untimed;
  marks.mark();
  for (std::size_t k = 0; k < samples.size(); ++k) {
    workload.issue(next, plan.calls);
    marks.mark();
    next += plan.calls;
  }
  workload.wait();
  const std::vector<double> seconds = marks.intervals();
  double last = 0;
  for (std::size_t k = 0; k < samples.size(); ++k) {
    samples[k].start = last;
    samples[k].issued = samples[k].end = last += seconds.at(k);
  }
}

}  // namespace

Samples take_block(const BlockPlan& plan, Workload& workload, Barrier& barrier,
                   const Clock& clock) {
  Samples samples(plan.samples);
  if (plan.timed() == 0) return {};
  const bool one_by_one =
      plan.blocking == Blocking::barrier_inside || plan.blocking == Blocking::wait;
  barrier.wait();
  if (plan.untimed > 0) {
    workload.issue(0, plan.untimed);
    workload.wait();
    barrier.wait();
  }
  workload.begin();
  if (plan.blocking == Blocking::stream) {
    if (Timeline* const marks = workload.marks()) {
      take_marked_stream(samples, plan, workload, *marks);
    } else {
      take_stream(samples, plan, workload, clock);
    }
    return samples;
  }
  std::size_t next = plan.untimed;
  for (Sample& sample : samples) {
    if (next > plan.untimed && plan.blocking == Blocking::barrier_outside) barrier.wait();
    sample.start = clock.now();
    if (one_by_one) {
      issue_one_by_one(next, plan, workload, barrier);
    } else {
      workload.issue(next, plan.calls);
    }
    sample.issued = clock.now();
    workload.wait();
    sample.end = clock.now();
    next += plan.calls;
  }
  if (plan.blocking == Blocking::barrier_outside) barrier.wait();
  return samples;
}

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
