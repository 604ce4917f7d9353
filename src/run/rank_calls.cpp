// RankRun's calls into the library: buffers, guards, warm-up, checks, the timed batch.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/run/rank_case.hpp"

namespace ccl_tests {
namespace {

StepTimes per_operation(const StepTimes& before, const StepTimes& after, std::size_t operations) {
  const auto n = static_cast<double>(operations);
  return {(after.sizes_s - before.sizes_s) / n, (after.payload_s - before.payload_s) / n,
          (after.packing_s - before.packing_s) / n};
}

}  // namespace

RankRun::Buffers RankRun::out_of_place(const Case& c, std::size_t slot, std::size_t phase) {
  return {send_.data() + c.slots.offset(slot), recv_.data() + c.slots.offset(slot), nullptr, 0,
          phase};
}

RankRun::Buffers RankRun::in_place(const Case& c, const Buffer& buffer, std::size_t slot,
                                   std::size_t phase) {
  std::byte* const region = buffer.data() + c.slots.offset(slot);
  const InPlace at = *c.layout.in_place;
  const std::size_t width = c.shape.type_bytes;
  const std::size_t end = std::max(at.send + c.layout.send, at.recv + c.layout.recv);
  return {region + at.send * width, region + at.recv * width, region, end * width, phase};
}

void RankRun::prepare(const Case& c, const Buffers& b) {
  const std::size_t width = c.shape.type_bytes;
  if (c.verifiable) {
    if (b.region != nullptr) {
      verifier_->mark_guards(b.region, b.region_bytes);
    } else {
      verifier_->mark_guards(b.send, c.layout.send * width);
      verifier_->mark_guards(b.recv, c.layout.recv * width);
    }
    verifier_->poison(b.recv, c.layout.recv, c.segments, b.phase);
  }
  verifier_->fill_input(b.send, c.layout.send,
                        b.phase);  // in place it may lie within the receive buffer: last
}

Call RankRun::call_on(const Case& c, const Buffers& b) {
  return {.send = b.send,
          .recv = b.recv,
          .count = c.layout.count,
          .type = c.type,
          .op = c.op.value_or(ReduceOp::sum),
          .self = c.shape.self,
          .root = c.shape.root,
          .send_counts = c.counts.send_counts,
          .send_offsets = c.counts.send_offsets,
          .recv_counts = c.counts.recv_counts,
          .recv_offsets = c.counts.recv_offsets,
          .peer = c.peer,
          .messages = c.layout.messages,
          .legs = c.layout.legs};
}

void RankRun::issue(const Call& call) {
  if (composite_)
    composite_->run(call);
  else
    context_.collective.run(communicator_, call);
  pulse_.beat();
}

// Waits for so many operations that this rank has issued.
void RankRun::complete(const Case& c, std::size_t operations) {
  pulse_.expect(operation_limit(c) * static_cast<double>(operations));
  communicator_.wait();
  pulse_.expect(operation_limit(c));
}

// Longest that one operation may take until the watchdog ends the job: a little more than the limit
// that the library was given, so that its own error comes first. 0: no limit.
double RankRun::operation_limit(const Case& c) const {
  if (context_.options.job.timeout_s <= 0) return 0;
  constexpr double later_s = 5;
  const auto moved = static_cast<double>(c.bytes.region) * c.shape.self.ranks;
  constexpr double tensor_s = 0.01;  // of an operation each, where a call is made of many
  const auto& spec = context_.options.spec;
  const double tensors =
      context_.collective.takes.tensors ? static_cast<double>(spec.tensors.size()) : 0;
  return context_.options.job.timeout_s + moved / 1e6 + tensors * tensor_s + later_s;
}

void RankRun::check(const Case& c, const Buffers& b, Checked& checked) const {
  const std::size_t width = c.shape.type_bytes;
  checked.found.add(verifier_->compare(b.recv, c.segments, b.phase));
  if (b.region != nullptr) {
    checked.found.add(verifier_->check_guards(b.region, b.region_bytes));
  } else {
    checked.found.add(verifier_->compare_input(b.send, c.layout.send, b.phase));
    checked.found.add(verifier_->check_guards(b.send, c.layout.send * width));
    checked.found.add(verifier_->check_guards(b.recv, c.layout.recv * width));
  }
  ++checked.verified;
}

double RankRun::time_once(const Case& c, const Buffers& b) {
  const Call call = call_on(c, b);
  const Watched watched(pulse_, operation_limit(c));
  const double start = communicator_.now();
  issue(call);
  complete(c, 1);
  return communicator_.now() - start;
}

// Warm-up calls, then the checked ones, all in slot 0. Returns how long this rank's last call took.
double RankRun::run_untimed(const Case& c, bool is_in_place, Checked& checked) {
  const Options& o = context_.options;
  const int checks = c.verifiable ? o.check.calls : 0;
  const int calls = std::max(
      1, o.measure.warmup + checks);  // at least one, so that the first timed call is not the first
  double last = 0;
  for (int k = 0; k < calls; ++k) {
    const bool checking = k >= calls - checks;
    const std::size_t phase = checked.next_phase++;
    const Buffers b = is_in_place ? in_place(c, recv_, 0, phase) : out_of_place(c, 0, phase);
    prepare(c, b);
    last = time_once(c, b);
    ++checked.calls;
    if (checking) check(c, b, checked);
  }
  return last;
}

RankRun::Batch RankRun::prepare_batch(const Case& c, bool is_in_place, int iterations,
                                      Checked& checked) {
  Batch batch;
  batch.operations = c.operations(iterations, context_.options.measure.aggregate);
  batch.changes_input = is_in_place && context_.collective.reduces;
  batch.aggregate = static_cast<std::size_t>(context_.options.measure.aggregate);
  const auto blocking = static_cast<Blocking>(context_.options.measure.blocking);
  const bool waits = blocking == Blocking::barrier_inside || blocking == Blocking::wait;
  batch.together = batch.aggregate > 1 && !waits && !context_.collective.in_steps;
  const bool reused = batch.operations > c.slots.count;
  for (std::size_t s = 0; s < std::min(batch.operations, c.slots.count); ++s) {
    const std::size_t phase = checked.next_phase++;
    batch.slots.push_back(is_in_place ? in_place(c, recv_, s, phase) : out_of_place(c, s, phase));
    batch.calls.push_back(call_on(c, batch.slots.back()));
  }
  if (batch.changes_input && reused) {
    batch.fresh = in_place(c, send_, 0, checked.next_phase++);
    batch.calls.push_back(call_on(c, *batch.fresh));
  }
  return batch;
}

void RankRun::prepare_slots(const Case& c, const Batch& batch) {
  for (const Buffers& b : batch.slots) prepare(c, b);
  if (batch.fresh) prepare(c, *batch.fresh);
}

void RankRun::issue_batch(const Batch& batch, std::size_t operation, Timeline* timeline) {
  if (timeline != nullptr && operation == 0) timeline->mark();
  if (batch.together && operation % batch.aggregate == 0) communicator_.begin_aggregate();
  issue(batch.call(operation));
  if (batch.together && (operation + 1) % batch.aggregate == 0) communicator_.end_aggregate();
  if (timeline != nullptr && (operation + 1) % batch.aggregate == 0) timeline->mark();
}

BatchTime RankRun::time_issued(const Case& c, const Batch& batch, Timeline* timeline) {
  const Options& o = context_.options;
  const BatchActions actions{
      .issue = [&](std::size_t k) { issue_batch(batch, k, timeline); },
      .wait = [&] { complete(c, batch.operations); },
      .barrier =
          [&] {
            world_communicator_.timing_barrier({world_.rank(), world_.ranks()});
          },
      .now = [&] { return communicator_.now(); }};
  const int iterations = static_cast<int>(batch.operations) / o.measure.aggregate;
  const Watched watched(pulse_, operation_limit(c));
  return time_batch({iterations, o.measure.aggregate, static_cast<Blocking>(o.measure.blocking)},
                    actions);
}

// The first launch, on fresh buffers, is not timed but checked; so are the results that the last
// timed one leaves behind where launching again gives the same.
BatchTime RankRun::time_graph(const Case& c, const Batch& batch, Timeline* timeline,
                              Checked& checked) {
  const auto launches = context_.options.measure.graph_launches;
  const Watched watched(pulse_, operation_limit(c));
  const auto graph = communicator_.capture([&] {
    for (std::size_t k = 0; k < batch.operations; ++k) issue_batch(batch, k, timeline);
  });
  graph->launch();
  complete(c, batch.operations);
  checked.calls += batch.operations;
  if (c.verifiable) check_batch(c, batch, false, checked);
  if (!batch.changes_input) prepare_slots(c, batch);
  const BatchActions actions{
      .issue =
          [&](std::size_t) {
            graph->launch();
            pulse_.beat();
          },
      .wait = [&] { complete(c, batch.operations * static_cast<std::size_t>(launches)); },
      .barrier =
          [&] {
            world_communicator_.timing_barrier({world_.rank(), world_.ranks()});
          },
      .now = [&] { return communicator_.now(); }};
  BatchTime time = time_batch({launches, 1, Blocking::none}, actions);
  time.wall /= static_cast<double>(batch.operations);
  time.issue /= static_cast<double>(batch.operations);
  return time;
}

// repeated: the same calls were made more than once.
void RankRun::check_batch(const Case& c, const Batch& batch, bool repeated, Checked& checked) {
  if (repeated && batch.changes_input) return;
  const std::size_t in_slots = batch.operations - (batch.fresh ? 1 : 0);
  for (std::size_t s = 0; s < batch.slots.size() && s < in_slots; ++s) {
    const bool used_once = s + batch.slots.size() >= in_slots;
    if (!batch.changes_input || used_once) check(c, batch.slots[s], checked);
  }
  if (batch.fresh) check(c, *batch.fresh, checked);
}

BatchTime RankRun::run_timed(const Case& c, bool is_in_place, int iterations, Checked& checked) {
  const Options& o = context_.options;
  if (iterations == 0) return {};
  const bool as_graph = o.measure.graph_launches > 0;
  const Batch batch = prepare_batch(c, is_in_place, iterations, checked);
  prepare_slots(c, batch);
  const std::unique_ptr<Timeline> timeline =
      o.measure.per_iteration ? communicator_.timeline(static_cast<std::size_t>(iterations) + 1)
                              : nullptr;
  const StepTimes before = composite_ ? composite_->times() : StepTimes{};
  const BatchTime time = as_graph ? time_graph(c, batch, timeline.get(), checked)
                                  : time_issued(c, batch, timeline.get());
  if (composite_) checked.steps = per_operation(before, composite_->times(), batch.operations);
  if (timeline) checked.intervals = timeline->intervals();
  checked.calls +=
      batch.operations * static_cast<std::size_t>(as_graph ? o.measure.graph_launches : 1);
  if (c.verifiable) check_batch(c, batch, as_graph, checked);
  return time;
}

// A barrier moves nothing: what is checked is that nobody leaves before the last has entered, on
// one machine's clock, with one rank after the other made late.
void RankRun::check_barrier(const Case& c, Checked& checked) {
  constexpr int most_rounds = 16;
  constexpr double delay_s = 2e-3;
  struct Stamp {
    double enter, leave;
  };
  const int ranks = c.shape.self.ranks;
  const int rounds = std::min(ranks, most_rounds);
  for (int round = 0; round < rounds; ++round) {
    const int late = round * ranks / rounds;
    if (c.shape.self.rank == late) communicator_.sleep(delay_s);
    const double enter = communicator_.now();
    time_once(c, {});
    const Stamp mine{enter, communicator_.now()};
    ++checked.calls;
    const auto all = group_.all_gather(pack(mine), exchange_limit(context_.options, 0));
    int last = 0;
    for (int r = 1; r < ranks; ++r) {
      const auto at = [&](int rank) {
        return unpack<Stamp>(all[static_cast<std::size_t>(rank)]).enter;
      };
      if (at(r) > at(last)) last = r;
    }
    const double last_enter = unpack<Stamp>(all[static_cast<std::size_t>(last)]).enter;
    ++checked.verified;
    if (mine.leave >= last_enter) continue;
    checked.found.add({1, 0, 0,
                       fmt::format("left the barrier {:.1f} us before rank {} entered it",
                                   (last_enter - mine.leave) * 1e6, last)});
  }
}

}  // namespace ccl_tests
