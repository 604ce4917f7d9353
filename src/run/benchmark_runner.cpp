#include "src/run/benchmark_runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <mutex>
#include <utility>

#include "src/measure/measurement.hpp"
#include "src/measure/sample_criterion.hpp"
#include "src/record/row_text.hpp"
#include "src/run/beside.hpp"
#include "src/run/memory_limit.hpp"
#include "src/run/reproduction_check.hpp"

namespace ccl_tests {
namespace {

// Keeps `thing` until the process ends, which does not destroy it. Thread-safe.
void leave_to_process_end(std::shared_ptr<void> thing) {
  static auto* const mutex = new std::mutex;
  static auto* const all = new std::vector<std::shared_ptr<void>>;
  const std::lock_guard lock(*mutex);
  all->push_back(std::move(thing));
}

std::string form_text(const Problem& p, Form form) {
  return fmt::format("{}, {}", p.text(), placement_words(form == Form::in_place));
}

}  // namespace

BenchmarkRunner::BenchmarkRunner(Rank& rank, const Options& options, const RankGroups& groups,
                                 verify::PatternCache& patterns)
    : rank_(rank),
      options_(options),
      patterns_(patterns),
      world_(rank.connect(rank.world())),
      loops_(rank.devices().loops(rank.device())),
      clock_(clock_properties(world_.clock())),
      cpus_short_(!rank.shortage().empty()) {
  if (!rank.process().options.simulated())
    counters_.emplace(counter_scope(rank.table(), rank.rank()));
  if (options.measure.beside) load_ = start_load(rank, *options.measure.beside);
  if (groups.is_world()) return;
  const bool rests = groups.group_of(rank.rank()) < 0;  // in a group of their own
  const int color = rests ? groups.number() : groups.group_of(rank.rank());
  const int key = rests ? rank.rank() : groups.rank_in_group(rank.rank());
  group_ = rank.world().split(color, key, rank.limit_s());
  communicator_ = &rank.connect_group(world_, *group_, color, key);
}

BenchmarkRunner::~BenchmarkRunner() {
  if (loops_ == nullptr || rank_.device().memory() != Memory::cuda) return;
  // After a failure, giving memory of GPUs back would wait for peers that are in an operation.
  leave_to_process_end(std::move(loops_));
  leave_to_process_end(std::move(verifier_));
  leave_to_process_end(std::move(load_));
  if (arena_) leave_to_process_end(std::make_shared<Arena>(std::move(*arena_)));
}

void BenchmarkRunner::close() {
  rank_.meet();  // nobody tears its connections down while others still use them
  load_.reset();
  verifier_.reset();
  arena_.reset();
  loops_.reset();
  if (group_) rank_.close(*communicator_);
  rank_.close(world_);
}

void BenchmarkRunner::reserve(const Collective& collective, const SweepRange& range) {
  slot_rule_ = range.slots;
  std::size_t largest = 0, largest_call = 0;
  for (const DataType type : range.types)
    for (const std::size_t bytes : range.sizes)
      for (const RankGroups& groups : range.groups) {
        const SweepPoint point{type, std::nullopt, 0, bytes, &groups, 0};
        const Shape shape =
            shape_of(point, options_.spec, std::max(0, groups.group_of(rank_.rank())));
        const Slots slots = row_slots(collective, shape, options_.sweep.unalign, slot_rule_);
        largest = std::max(largest, slots.end());
        largest_call = std::max(largest_call, slots.bytes);
      }
  communicator().reserve(largest_call);
  arena_.emplace(communicator(), rank_.device(), largest, slot_rule_.flush_bytes);
  if (rank_.device().memory() == Memory::cuda) arena_->raise_clocks(*loops_, 0.1);
  // Taking memory of a GPU waits for peers, whose first operation waits for this rank. Staged, the
  // library takes some for host buffers, too.
  if (rank_.gpu() != nullptr) rank_.meet();
}

// Data of groups differ, so that what leaks from one into another is wrong there.
void BenchmarkRunner::use_pattern(const Problem& p) {
  const auto group = static_cast<std::uint64_t>(std::max(0, p.shape.self.group));
  // Rows of one size, or smaller, share their values: making them takes time.
  constexpr std::size_t shortest = std::size_t{1} << 16;
  const std::size_t row_bytes = p.width() * std::max(p.layout.send, p.layout.recv);
  verify::DataChoice data = options_.check.data;
  data.bytes = std::min(data.bytes, std::max(shortest, std::bit_ceil(row_bytes)));
  const auto pattern = patterns_.find(
      p.point.type, p.point.op, p.shape.self.ranks, options_.check.seed + 0x9e3779b9 * group,
      communicator().capabilities().integers_wrap,
      p.collective->largest_input == nullptr ? 0
                                             : p.collective->largest_input(p.shape, p.point.type),
      data);
  verifier_ = std::make_unique<verify::Verifier>(pattern, p.shape.self.rank, *loops_);
  const Needs& needs = p.collective->needs;
  const bool of_messages =
      needs.operations.list() == std::vector{OperationId::transfer} && !needs.in_steps;
  const bool own_buffers = needs.own_buffers || (!needs.operations.empty() && !of_messages);
  if (Injector* const injector = rank_.injector()) injector->begin_row(p.point.bytes, own_buffers);
}

bool BenchmarkRunner::verifiable(const Problem& p) const {
  return options_.check.calls > 0 && verifier_->pattern().inputs().verifiable() &&
         (!p.collective->needs.synchronizes || rank_.table().on_one_machine());
}

std::vector<Form> BenchmarkRunner::forms_of(const Problem& p) const {
  switch (options_.sweep.placements) {
    case Placements::both: return {Form::out_of_place, Form::in_place};
    case Placements::out_of_place: return {Form::out_of_place};
    case Placements::in_place: break;
  }
  // The pingpong of --ceiling has no in-place form.
  return {repeats_out_of_place(p, Form::in_place) ? Form::out_of_place : Form::in_place};
}

std::unique_ptr<Operation> BenchmarkRunner::operation_of(const Problem& p,
                                                         const WaitLimits& limits) {
  const Expected expected(rank_.activity(), limits.agreement_s);
  rank_.activity().row(form_text(p, forms_of(p).front()) +
                       ", preparing, and whether the ranks agree");
  std::unique_ptr<Operation> operation =
      p.collective->make(group_channel(), communicator(), p.shape, p.point.type);
  operation->set_exchange_limit(limits.exchange_s);
  operation->check();
  return operation;
}

PointRows BenchmarkRunner::warm_up(const Collective& collective, const SweepPoint& point) {
  const Problem p = problem(collective, point, options_.spec, rank_.rank());
  use_pattern(p);
  Options patient = options_;
  double& limit_s = patient.job.timeout_s;
  if (limit_s > 0) limit_s = std::max(limit_s, options_.backend.init_timeout_s);
  communicator().set_time_limit(limit_s);
  const WaitLimits limits = wait_limits(patient, p);
  const std::unique_ptr<Operation> operation = operation_of(p, limits);
  rank_.activity().row(p.text() + ", first call of the job, untimed");
  if (GpuExtension* const gpu = communicator().gpu()) gpu->annotate(p.text() + ", first call");
  OperationWorkload call(p, Form::out_of_place,
                         call_plan(p, Form::out_of_place, options_.check.all && verifiable(p),
                                   limits, nullptr, communicator().clock()),
                         *arena_, communicator(), *operation, *verifier_, rank_.activity());
  const bool checks = options_.check.all && verifiable(p) && !collective.needs.synchronizes;
  call.make({.calls = 1, .checked = checks ? std::size_t{1} : 0});
  communicator().set_time_limit(options_.job.timeout_s);
  if (!options_.check.all) return {};
  return checked_rows(p, p.takes_part() ? call.report() : RankReport(), limits, first_call_words);
}

PointRows BenchmarkRunner::checked_rows(const Problem& p, const RankReport& mine,
                                        const WaitLimits& limits, std::string_view where) {
  PointRows result;
  FormFindings found;
  found.reports = gather_reports(rank_, mine, limits.exchange_s);
  if (!rank_.is_first()) return result;
  judge_agreement(*p.point.groups, found.reports);
  result.rows = unmeasured_rows(p);
  add_checked(result, row_context(p), found, where);
  return result;
}

PointRows BenchmarkRunner::repeat(const Collective& collective, const SweepPoint& point,
                                  const std::function<bool()>& go_on) {
  const Problem p = problem(collective, point, options_.spec, rank_.rank());
  use_pattern(p);
  const WaitLimits limits = wait_limits(options_, p);
  const std::unique_ptr<Operation> operation = operation_of(p, limits);
  rank_.activity().row(p.text() + ", in a loop beside others");
  const bool checks = verifiable(p);
  const CallPlan plan =
      call_plan(p, Form::out_of_place, checks, limits, nullptr, communicator().clock());
  OperationWorkload calls(p, Form::out_of_place, plan, *arena_, communicator(), *operation,
                          *verifier_, rank_.activity());
  const auto first = static_cast<std::size_t>(options_.check.calls);
  calls.make({.calls = first, .checked = checks ? first : 0});
  if (options_.check.all) {
    while (go_on()) calls.make({.calls = 1, .checked = checks ? std::size_t{1} : 0});
  } else {
    const std::size_t slots = plan.slots.count;
    calls.prepare({.samples = slots, .calls = 1});
    for (std::size_t done = 0; done < slots || go_on(); ++done) {
      rank_.activity().expect(limits.operation_s);
      calls.issue(0, 1);
      calls.wait();
      rank_.activity().expect_nothing();  // go_on() may wait
      if (done >= slots) calls.count(1);
    }
    calls.verify();
  }
  return checked_rows(p, calls.report(), limits, "in a loop");
}

PointRows BenchmarkRunner::glance(const Collective& collective, const SweepPoint& point,
                                  double budget_s) {
  constexpr double longest = 10;  // of budgets
  const double before_s = std::exchange(budget_s_, budget_s);
  most_s_ = longest * budget_s;
  PointRows result = run(collective, point, false);
  budget_s_ = before_s;
  most_s_ = 0;
  return result;
}

PointRows BenchmarkRunner::run(const Collective& collective, const SweepPoint& point,
                               bool verified) {
  const Problem p = problem(collective, point, options_.spec, rank_.rank());
  use_pattern(p);
  const WaitLimits limits = wait_limits(options_, p);
  const std::unique_ptr<Operation> operation = operation_of(p, limits);
  PointRows result;
  if (rank_.is_first()) result.rows = unmeasured_rows(p);
  const std::vector<Form> forms = forms_of(p);
  for (const Form form : forms) {
    // Without an in-place form the out-of-place measurement is repeated there, unchecked.
    const bool checks =
        verified && verifiable(p) && (options_.check.all || !repeats_out_of_place(p, form));
    const FormFindings found = run_form(p, form, *operation, checks, limits);
    if (!rank_.is_first()) continue;
    result.spent_s += found.spent_s;
    add_form(result, row_context(p), form, found);
  }
  for (Row& row : result.rows) {
    row.out_of_place.left_out = forms.front() != Form::out_of_place;
    row.in_place.left_out = forms.back() != Form::in_place;
  }
  if (verified && options_.check.reproducible && collective.domain.reduces)
    add_reproductions(result, p, *operation, limits);
  if (verified && load_) add_beside(result, p, forms.front(), *operation, limits);
  const bool one_row_for_all = !options_.sweep.group_rows && !collective.domain.paired;
  if (!result.rows.empty() && one_row_for_all) result.rows = {slowest(result.rows)};
  return result;
}

void BenchmarkRunner::add_reproductions(PointRows& result, const Problem& p, Operation& operation,
                                        const WaitLimits& limits) {
  const Slots slots = row_slots(*p.collective, p.shape, options_.sweep.unalign, slot_rule_);
  const auto found = reproduce(p, {rank_, group_channel(), communicator(), operation, *arena_,
                                   slots, limits, options_.check.seed});
  for (std::size_t g = 0; g < result.rows.size(); ++g)
    result.rows[g].reproduction =
        reproduction_of(found, p.point.groups->members(static_cast<int>(g)));
}

void BenchmarkRunner::add_beside(PointRows& result, const Problem& p, Form form,
                                 Operation& operation, const WaitLimits& limits) {
  const std::string where = fmt::format("{}, beside {}", placement_words(form == Form::in_place),
                                        name(*options_.measure.beside));
  FormFindings found;
  found.checked = verifiable(p) && !p.collective->needs.synchronizes;
  rank_.activity().row(fmt::format("{}, {}", p.text(), where));
  Clock& clock = communicator().clock();
  CallPlan plan = call_plan(p, form, found.checked, limits, nullptr, clock);
  plan.counters = nullptr;  // of the row's times alone
  OperationWorkload calls(p, form, plan, *arena_, communicator(), operation, *verifier_,
                          rank_.activity());
  const std::function<void()> meet = [] {};
  IdleWorkload idle(calls, clock, meet);
  Workload& workload = p.takes_part() ? static_cast<Workload&>(calls) : idle;
  const auto rounds = take_rounds({rank_, world_, workload, clock, *load_, limits,
                                   most_calls(options_, p, slot_rule_, false),
                                   seconds_of_call(p, result.rows), options_.measure.row_time_s});
  found.reports = gather_reports(rank_, calls.report(), limits.exchange_s);
  if (!rank_.is_first()) return;
  for (std::size_t g = 0; g < result.rows.size(); ++g)
    result.rows[g].beside = {beside_ratios(rounds, p.point.groups->members(static_cast<int>(g)),
                                           static_cast<Average>(options_.measure.average)),
                             std::string(name(*options_.measure.beside))};
  add_calls(result, row_context(p), form, where, found);
}

std::vector<Measurement> BenchmarkRunner::times(const Collective& collective,
                                                const SweepPoint& point) {
  const Problem p = problem(collective, point, options_.spec, rank_.rank());
  use_pattern(p);
  const WaitLimits limits = wait_limits(options_, p);
  const std::unique_ptr<Operation> operation = operation_of(p, limits);
  const FormFindings found = run_form(p, forms_of(p).front(), *operation, false, limits);
  std::vector<Measurement> times;
  if (!rank_.is_first()) return times;
  for (int g = 0; g < point.groups->number(); ++g)
    times.push_back(measurement_of(row_context(p), g, found));
  return times;
}

FormFindings BenchmarkRunner::run_form(const Problem& p, Form form, Operation& operation,
                                       bool checks, const WaitLimits& limits) {
  const bool by_time = p.collective->needs.synchronizes;
  const std::unique_ptr<StoppingCriterion> stop = criterion(p, checks && !by_time);
  FormFindings found;
  HostClocks clocks(rank_, world_, options_.measure.samples, limits.exchange_s);
  const RankReport mine = take_form(p, form, operation, checks, *stop, limits);
  found.reports = gather_reports(rank_, mine, limits.exchange_s);
  static_cast<TakenSamples&>(found) = stop->taken();
  found.clock_error_s = clocks.unify(found.samples);
  found.calls = found.iterations * static_cast<std::size_t>(options_.measure.aggregate) *
                static_cast<std::size_t>(std::max(1, options_.measure.graph_launches));
  found.checked = checks;
  if (by_time && checks) judge_barriers(*p.point.groups, found.reports);
  judge_agreement(*p.point.groups, found.reports);
  return found;
}

RankReport BenchmarkRunner::take_form(const Problem& p, Form form, Operation& operation,
                                      bool checks, StoppingCriterion& criterion,
                                      const WaitLimits& limits) {
  const bool by_time = p.collective->needs.synchronizes;
  Clock& clock = communicator().clock();
  GpuExtension* const gpu = communicator().gpu();
  WorldBarrier barrier(world_, rank_);
  ChannelCoordinator coordinator(rank_, form_text(p, form), options_.measure.samples,
                                 limits.exchange_s);
  const bool show_algorithm =
      gpu != nullptr && options_.backend.show_algorithm && form == forms_of(p).front();
  if (gpu != nullptr) gpu->annotate(form_text(p, form) + ", row");
  if (show_algorithm) gpu->last_algorithm();  // for the row before
  const std::unique_ptr<Timeline> timeline =
      options_.measure.per_iteration
          ? make_timeline(communicator(), static_cast<std::size_t>(options_.measure.iterations) + 1)
          : nullptr;
  const Form calls_form = repeats_out_of_place(p, form) ? Form::out_of_place : form;
  OperationWorkload calls(p, calls_form,
                          call_plan(p, form, checks && !by_time, limits, timeline.get(), clock),
                          *arena_, communicator(), operation, *verifier_, rank_.activity());
  if (by_time && checks) calls.enter_barriers(clock);
  const auto launches = static_cast<std::size_t>(options_.measure.graph_launches);
  const std::function<void()> meet = [&] {
    if (launches > 0) rank_.meet();
  };
  GraphWorkload graph(calls, communicator(), launches, meet);
  IdleWorkload idle(calls, clock, meet);
  Workload& workload = !p.takes_part() ? static_cast<Workload&>(idle)
                       : launches > 0  ? static_cast<Workload&>(graph)
                                       : static_cast<Workload&>(calls);
  measure(rank_.is_first() ? &criterion : nullptr, workload, barrier, clock, coordinator);
  rank_.activity().expect(0);
  RankReport report = calls.report();
  if (timeline && p.takes_part()) report.intervals = timeline->intervals();
  if (show_algorithm) report.algorithm = gpu->last_algorithm();
  return report;
}

bool BenchmarkRunner::has_intervals() const {
  if (options_.measure.samples) return true;
  return !options_.measure.batch && !rank_.process().options.simulated();
}

std::unique_ptr<StoppingCriterion> BenchmarkRunner::criterion(const Problem& p, bool checks) const {
  if (has_intervals()) {
    // The cost of an event: it is exact to about 0.5 us (CUDA runtime, cudaEventElapsedTime).
    constexpr double event_cost_s = 1e-6;
    const bool has_events = communicator().gpu() != nullptr;
    PrecisionGoal goal = precision_goal(options_, p, checks, cpus_short_);
    goal.clock_cost_s = has_events ? event_cost_s : clock_.cost_s;
    goal.budget_s = budget_s_;
    goal.most_calls = most_calls(options_, p, slot_rule_, checks);
    if (most_s_ > 0) goal.limit_s = goal.limit_s > 0 ? std::min(goal.limit_s, most_s_) : most_s_;
    if (options_.measure.samples) return std::make_unique<SampleCriterion>(goal);
    return std::make_unique<StreamCriterion>(goal);
  }
  BatchGoal goal = batch_goal(options_, checks, rank_.process().options.simulated());
  if (checks && options_.check.all) {
    goal.most_calls = most_calls(options_, p, slot_rule_, checks);
    goal.trial = 0;  // blocks are small
  }
  return std::make_unique<BatchCriterion>(goal);
}

CallPlan BenchmarkRunner::call_plan(const Problem& p, Form form, bool verifies,
                                    const WaitLimits& limits, Timeline* timeline,
                                    const Clock& clock) {
  const Options& o = options_;
  const auto blocking = static_cast<Blocking>(o.measure.blocking);
  const bool waits = blocking == Blocking::barrier_inside || blocking == Blocking::wait;
  const Slots slots = row_slots(*p.collective, p.shape, o.sweep.unalign, slot_rule_);
  const auto singles =
      static_cast<std::size_t>(o.measure.warmup) + static_cast<std::size_t>(o.check.calls);
  return {.slots = slots,
          .first_phase = form == Form::in_place ? slots.count + singles + 2 : 0,
          .aggregate = static_cast<std::size_t>(o.measure.aggregate),
          .together = o.measure.aggregate > 1 && !waits && !p.collective->needs.in_steps,
          .verifies = verifies,
          .new_patterns = verifies && o.check.all,
          .limit_s = limits.operation_s,
          .timeline = timeline,
          .counters = counters_ ? &*counters_ : nullptr,
          .injector = rank_.injector(),
          .clock = clock};
}

RowContext BenchmarkRunner::row_context(const Problem& p) const {
  return {p,
          options_,
          rank_.table(),
          rank_.process().options.ranks_per_process(),
          clock_.cost_s,
          cpus_short_};
}

std::vector<Row> BenchmarkRunner::unmeasured_rows(const Problem& p) const {
  const bool numbered = options_.sweep.group_rows && !p.collective->domain.paired;
  std::vector<Row> rows;
  for (int g = 0; g < p.point.groups->number(); ++g)
    rows.push_back(unmeasured_row(p, g, communicator().capabilities(),
                                  verifiable(p) ? &verifier_->pattern() : nullptr, numbered));
  return rows;
}

}  // namespace ccl_tests
