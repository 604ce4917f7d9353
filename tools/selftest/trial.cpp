#include "tools/selftest/trial.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>

#include "src/core/capabilities.hpp"
#include "src/core/communicator.hpp"
#include "src/core/error.hpp"
#include "src/record/quantity_text.hpp"
#include "src/record/row_text.hpp"
#include "src/run/benchmark_runner.hpp"
#include "src/run/memory_limit.hpp"
#include "verify/right_results.hpp"

namespace ccl_tests::selftest {

bool Tallies::passed() const {
  return wrong_cells == 0 && std::ranges::all_of(faults, [](const auto& one) {
           return one.second.caught + one.second.within_bound == one.second.injected;
         });
}

std::string text_of(const Tallies& t) {
  std::string text = t.library;
  text += fmt::format("# {:<22} {:>9} {:>9} {:>9} {:>9}\n", "fault", "injected", "caught", "named",
                      "harmless");
  std::uint64_t injected = 0, caught = 0, within_bound = 0;
  for (const auto& [kind, f] : t.faults) {
    injected += f.injected;
    caught += f.caught;
    within_bound += f.within_bound;
    const std::string named = f.nameable == 0 ? "-" : fmt::format("{}/{}", f.named, f.nameable);
    text += fmt::format("  {:<22} {:9} {:9} {:>9} {:9}\n", name(kind), f.injected, f.caught, named,
                        f.harmless);
  }
  for (const auto& [reason, number] : t.reasons)
    text += fmt::format("# harmless: {} x {}\n", number, reason);
  if (within_bound > 0)
    text +=
        fmt::format("# not caught: {} within the bound of the rounding errors of so many ranks\n",
                    counted(within_bound, "fault"));
  for (const std::string& line : t.missed) text += fmt::format("# MISSED: {}\n", line);
  for (const std::string& line : t.wrong)
    text +=
        fmt::format("# WRONG DATA without a fault, the library's or the verifier's: {}\n", line);
  text += fmt::format("# {}: {} of {} caught; {} wrong without a fault in {} of {}, {} verified\n",
                      t.passed() ? "OK" : "FAILED", caught, counted(injected, "fault"),
                      counted(t.wrong_cells, "cell"), counted(t.plain_rows, "row"),
                      counted(t.plain_calls, "call"), t.verified_calls);
  return text;
}

namespace {

std::string line(std::string_view what, const std::vector<std::string_view>& operations) {
  if (operations.empty()) return {};
  return fmt::format("# {}: {}\n", what, fmt::join(operations, ", "));
}

// Returns lines such as "avg of every type: sum, then divide".
std::string lines(std::string_view what, const std::vector<TypesAndOps>& rules) {
  std::string text;
  for (const TypesAndOps& rule : rules)
    text += fmt::format("# {}: {} of {}: {}\n", what, rule.op ? name(*rule.op) : "all",
                        rule.type ? name(*rule.type) : "every type", rule.note);
  return text;
}

// Returns lines with '#': which operations the backend makes, which the suite composes from
// messages, what the backend composes, and what it lacks.
std::string library_text(const Capabilities& library) {
  std::vector<std::string_view> made, composed, missing;
  for (const OperationId operation : all_operations()) {
    auto& list = library.operations.has(operation)          ? made
                 : library.why_not({operation}).has_value() ? missing
                                                            : composed;
    list.push_back(name(operation));
  }
  return line("implements", made) + line("composed from messages", composed) +
         line("lacks", missing) + lines("composed by the backend", library.emulated) +
         lines("lacks", library.unsupported) +
         fmt::format("# arithmetic: {}\n", library.arithmetic(reducing_operations, "the library"));
}

constexpr std::size_t most_lines = 20;
constexpr std::size_t timed_calls = 2;
// The calls of a row: in each placement a warm-up call, a checked one, and the timed ones.
constexpr std::size_t calls_of_row = 2 * (2 + timed_calls);

// Returns options of few calls, all of them verified.
Options measured(const Arguments& a) {
  Options o = a.options;
  o.measure.batch = o.measure.warmup_given = true;
  o.measure.warmup = 1;
  o.measure.iterations = static_cast<int>(timed_calls);
  o.check.all = true;
  return o;
}

std::vector<Kind> kinds_of(const Collective& collective, const std::vector<DataType>& types) {
  const auto has = [](auto some, auto value) {
    return some.empty() || std::ranges::find(some, value) != some.end();
  };
  std::vector<Kind> kinds;
  for (const DataType type : types) {
    if (!has(collective.domain.types, type)) continue;
    if (!collective.domain.reduces) kinds.emplace_back(type, std::nullopt);
    for (const ReduceOp op : ops_of(type))
      if (collective.domain.reduces && has(collective.domain.ops, op)) kinds.emplace_back(type, op);
  }
  return kinds;
}

using enum FaultKind;

OperationId operation_of(const Collective& collective) {
  return parse_operation(collective.name).value_or(OperationId::transfer);
}

// Returns the fault of case `number`: at a rank whose result it can change, to one call.
Fault fault_of(FaultKind kind, const Collective& collective, int ranks, std::size_t number) {
  const OperationId operation = operation_of(collective);
  const bool of_input =
      kind == missing_contribution || kind == doubled_contribution || kind == changed_input;
  const bool at_root = of_input ? sent_by_root.has(operation) : received_by_root.has(operation);
  Fault fault;
  fault.kind = kind;
  fault.rank = at_root ? 0 : ranks - 1;
  const std::size_t least = kind == stale_result ? 2 : 1;  // a call that has another one before it
  fault.call = least + number % (calls_of_row - (least - 1));
  return fault;
}

// Returns whether what verification says of a wrong result is what was done; nullopt: it has no
// words for this kind.
std::optional<bool> is_named(FaultKind kind, const Collective& collective, const Mismatch& found) {
  const auto says = [&](std::string_view words) {
    return found.explanation.find(words) != std::string::npos;
  };
  using verify::WrongKind;
  const auto says_kind = [&](WrongKind wrong) { return says(words(wrong)); };
  switch (kind) {
    case flipped_bit:
    case flipped_sign:
    case truncated_tail: return found.wrong == 1;
    case stale_result: return says("earlier call");
    case missing_contribution:
      if (!collective.domain.reduces) return std::nullopt;
      return says("without rank");
    case swapped_blocks:
    case shifted_block: return says("instead of rank") || says("like ");
    case written_behind: return says("past the end");
    case written_before: return says("before the buffer");
    case changed_input: return says("send buffer");
    case rounded_toward_zero: return says_kind(WrongKind::toward_zero);
    case one_ulp: return says_kind(WrongKind::one_place) || says("rounded");
    case flushed_subnormals: return says_kind(WrongKind::flushed);
    case saturated: return says_kind(WrongKind::saturated);
    case double_rounded: return says("rounded");
    case integer_order: return says_kind(WrongKind::integer_order);
    case skipped_assignment: return says_kind(WrongKind::stale);
    case ignored_nan: return says_kind(WrongKind::nan_lost) || says("or NaN where");
    default: return std::nullopt;
  }
}

// Returns why a fault shows nothing with these data; nullopt: it may.
std::optional<std::string> why_not_with(verify::DataKind data, FaultKind kind) {
  const bool exact = data == verify::DataKind::exact;
  if (exact && is_of_arithmetic(kind)) return "exact data do not ask for arithmetic";
  if (!exact && (kind == flipped_bit || kind == flipped_sign))
    return "of these data the result may be right";
  return std::nullopt;
}

class Trial {
 public:
  Trial(Rank& rank, const Arguments& a, verify::PatternCache& patterns, Tallies& tallies)
      : rank_(rank),
        arguments_(a),
        options_(measured(a)),
        tallies_(tallies),
        groups_(SplitRule{}, rank.table().places()),
        runner_(rank, options_, groups_, patterns),
        table_(table_with_free_memory(rank)) {}

  const Capabilities& library() const { return runner_.communicator().capabilities(); }

  void program(const Collective& collective) {
    if (library().why_not(operations_of(collective))) return;
    const Shape shape =
        shape_of({DataType::float32, std::nullopt, 0, arguments_.fault_bytes, &groups_, 0},
                 options_.spec, 0);
    if (collective.unsupported != nullptr && collective.unsupported(shape)) return;
    options_.sweep.types = arguments_.types;
    options_.sweep.sizes = arguments_.sizes;
    options_.sweep.sizes.push_back(arguments_.fault_bytes);
    const SizePlan plan =
        plan_sizes(collective, options_, table_, groups_, rank_.process().staging.buffers,
                   rank_.process().backend.info());
    const auto fits = [&](std::size_t bytes) {
      return std::ranges::find(plan.sizes, bytes) != plan.sizes.end();
    };
    if (!fits(arguments_.fault_bytes))
      throw Unsupported(fmt::format("{} B do not fit into the memory", arguments_.fault_bytes));
    runner_.reserve(collective, {arguments_.types, plan.sizes, plan.slots, {groups_}, {}});
    for (const auto& [type, op] : kinds_of(collective, arguments_.types)) {
      const bool missing = library().why_not(type, op).has_value();
      if (rank_.agree(missing ? 1 : 0) != 0) continue;
      for (const std::size_t bytes : arguments_.sizes)
        if (fits(bytes)) without_fault(collective, {type, op, 0, bytes, &groups_, 0});
      for (const FaultKind kind : arguments_.faults)
        with_fault(kind, collective, {type, op, 0, arguments_.fault_bytes, &groups_, 0});
    }
  }
  void close() {
    rank_.injector()->set(std::nullopt);  // faults have been counted
    runner_.close();
  }

 private:
  void without_fault(const Collective& collective, const SweepPoint& point) {
    rank_.injector()->set(std::nullopt);
    for (const Row& row : runner_.run(collective, point).rows) {
      ++tallies_.plain_rows;
      for (const Measurement* cell : {&row.out_of_place, &row.in_place}) {
        tallies_.plain_calls += cell->calls;
        tallies_.verified_calls += cell->verified_calls;
        if (cell->failed_ranks == 0) continue;
        if (tallies_.wrong_cells++ < most_lines)
          tallies_.wrong.push_back(fmt::format("{}_perf, {}: {}", collective.name,
                                               row_name(row, point.bytes),
                                               mismatch_text(cell->mismatches.front())));
      }
    }
  }

  void with_fault(FaultKind kind, const Collective& collective, const SweepPoint& point) {
    FaultTally& tally = tallies_.faults[kind];
    if (const auto why = why_not_with(options_.check.data.kind, kind))
      return leave_out(tally, *why);
    if (const auto why = why_harmless(kind, operation_of(collective), point.type,
                                      point.op.value_or(ReduceOp::sum), rank_.ranks()))
      return leave_out(tally, *why);
    const Fault fault = fault_of(kind, collective, rank_.ranks(), number_++);
    rank_.injector()->set(fault);
    const PointRows found = runner_.run(collective, point);
    const std::string mine = std::to_string(rank_.injector()->spoiled());
    std::uint64_t spoiled = 0;
    for (const std::string& text : rank_.world().all_gather(mine, rank_.limit_s()))
      spoiled += std::stoull(text);
    if (!rank_.is_first()) return;
    if (spoiled == 0) return leave_out(tally, "the bytes were so before, or the call has none");
    ++tally.injected;
    judge(fault, collective, point, found.rows.front(), tally);
  }

  void judge(const Fault& fault, const Collective& collective, const SweepPoint& point,
             const Row& row, FaultTally& tally) {
    const Measurement& cell = row.out_of_place.failed_ranks > 0 ? row.out_of_place : row.in_place;
    if (cell.failed_ranks == 0 && is_of_arithmetic(fault.kind) &&
        !verify::RightResults::all_orders_known(rank_.ranks())) {
      ++tally.within_bound;
      return;
    }
    if (cell.failed_ranks == 0) {
      if (tallies_.missed.size() < most_lines)
        tallies_.missed.push_back(fmt::format("{}_perf {} -n {} -w 1 --inject {}", collective.name,
                                              rerun_flags(row, point.bytes, options_.check),
                                              timed_calls, text_of(fault)));
      return;
    }
    ++tally.caught;
    const auto named = is_named(fault.kind, collective, cell.mismatches.front());
    if (!named) return;
    ++tally.nameable;
    if (*named) ++tally.named;
  }

  void leave_out(FaultTally& tally, const std::string& why) {
    ++tally.harmless;
    ++tallies_.reasons[why];
  }

  Rank& rank_;
  const Arguments& arguments_;
  Options options_;
  Tallies& tallies_;
  RankGroups groups_;
  BenchmarkRunner runner_;
  RankTable table_;         // with the memory that is free beside the library's
  std::size_t number_ = 0;  // of rows with a fault
};

}  // namespace

int run(Rank& rank, const Arguments& arguments, verify::PatternCache& patterns, Tallies& tallies) {
  Trial trial(rank, arguments, patterns, tallies);
  tallies.library = library_text(trial.library());
  for (const Collective* collective : tested_programs()) {
    const bool asked =
        std::ranges::find(arguments.programs, collective->name) != arguments.programs.end();
    if (!asked) continue;
    rank.activity().phase(fmt::format("spoiling {}", collective->name));
    trial.program(*collective);
  }
  trial.close();
  if (rank.agree(tallies.plain_rows == 0 ? 1 : 0) != 0)
    throw Unsupported("none of these programs and types runs on this library with so many ranks");
  return rank.agree(exit_code(tallies.passed() ? Exit::passed : Exit::wrong_data));
}

}  // namespace ccl_tests::selftest
