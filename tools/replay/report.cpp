#include "tools/replay/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/core/serialize.hpp"
#include "src/inject/fault.hpp"
#include "src/record/quantity_text.hpp"

namespace ccl_tests::replay {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RowKey, operation, ranks, bytes, type, op)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RowSums, calls, bytes, ends, timed_ends, traced_s, replayed_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(Outcome, rows, records, marks, dropped, left_out, assumed,
                                   moved_as_bytes, formats, verified, unverified, timed, wrong,
                                   first_wrong, pass_s, trace_s)

namespace {

void add_reasons(Reasons& all, const Reasons& some) {
  for (const auto& [why, number] : some) all[why] += number;
}

std::uint64_t total(const Reasons& reasons) {
  std::uint64_t all = 0;
  for (const auto& [why, number] : reasons) all += number;
  return all;
}

std::string lines(std::string_view title, const Reasons& reasons) {
  std::string text;
  for (const auto& [why, number] : reasons)
    text += fmt::format("# {}: {} x {}\n", title, number, why);
  return text;
}

std::string lines(std::string_view title, const std::set<std::string>& facts) {
  std::string text;
  for (const std::string& fact : facts) text += fmt::format("# {}: {}\n", title, fact);
  return text;
}

std::string microseconds(double seconds, std::uint64_t ends) {
  return ends == 0 ? "-" : fmt::format("{:.2f}", seconds * 1e6 / static_cast<double>(ends));
}

std::string row_text(const RowKey& key, const RowSums& sums, bool listed) {
  const std::size_t bytes =
      key.operation == OperationId::alltoallv && sums.ends > 0
          ? static_cast<std::size_t>(std::llround(sums.bytes / static_cast<double>(sums.ends)))
          : key.bytes;
  const bool message = key.operation == OperationId::transfer;
  const bool barrier = key.operation == OperationId::barrier;
  std::string text = fmt::format("  {:<15} {:>6} {:>9} {:>12} {:>9} {:>7} {:>12}",
                                 message ? "message" : name(key.operation), message ? 2 : key.ranks,
                                 std::llround(sums.calls), bytes, barrier ? "-" : name(key.type),
                                 reducing_operations.has(key.operation) ? name(key.op) : "-",
                                 microseconds(sums.traced_s, sums.timed_ends));
  if (!listed) {
    const double here_s =
        sums.replayed_s / static_cast<double>(std::max<std::uint64_t>(1, sums.ends));
    const double there_s =
        sums.traced_s / static_cast<double>(std::max<std::uint64_t>(1, sums.timed_ends));
    text += fmt::format(" {:>12} {:>7}", microseconds(sums.replayed_s, sums.ends),
                        there_s > 0 ? fmt::format("{:.3g}", here_s / there_s) : "-");
  }
  return text + '\n';
}

std::string verdict(const Outcome& o, bool listed) {
  const std::uint64_t dropped = total(o.dropped);
  if (o.wrong > 0)
    return fmt::format("# WRONG: {} of {} results (exit 7)\n# {}\n", o.wrong, o.verified,
                       o.first_wrong);
  if (!o.spoiled.empty()) return fmt::format("# INCONCLUSIVE: {} (exit 8)\n", nothing_spoiled);
  std::string text =
      listed
          ? "the ranks' traces agree"
          : fmt::format("{} of {} results of ranks verified (timed calls write over each other's)",
                        o.verified, o.verified + o.unverified + o.timed);
  if (o.unverified > 0) text += fmt::format(", {} say nothing and were not", o.unverified);
  if (dropped > 0)
    return fmt::format("# INCOMPLETE: {}, {} calls of ranks dropped (exit 8)\n", text, dropped);
  return fmt::format("# OK: {}\n", text);
}

}  // namespace

RowKey row_key(const PlannedKind& kind) {
  using enum OperationId;
  const bool blocks =
      OperationSet{all_gather, reduce_scatter, alltoall, gather, scatter}.has(kind.operation);
  const auto n = static_cast<std::size_t>(blocks ? kind.self.ranks : 1);
  return {kind.operation, kind.self.ranks, kind.count * n * size_of(kind.type), kind.type, kind.op};
}

void count(Outcome& o, const RankTrace& trace, const RankPlan& plan) {
  o.records += trace.records;
  o.formats.insert(trace.format);
  o.assumed.insert(trace.assumed.begin(), trace.assumed.end());
  add_reasons(o.marks, trace.marks);
  add_reasons(o.dropped, plan.dropped);
  add_reasons(o.left_out, plan.left_out);
  double first_s = not_known_s, last_s = not_known_s;
  for (const PlannedCall& call : plan.calls) {
    const PlannedKind& kind = plan.kinds[call.kind];
    RowSums& row = o.rows[row_key(kind)];
    row.calls += kind.is_message() ? 0.5 : 1.0 / kind.self.ranks;
    row.bytes += static_cast<double>(kind.bytes());
    ++row.ends;
    if (!std::isnan(call.duration_s)) {
      ++row.timed_ends;
      row.traced_s += static_cast<double>(call.duration_s);
    }
    if (std::isnan(first_s)) first_s = call.start_s;
    last_s = call.start_s;
  }
  if (!std::isnan(last_s - first_s)) o.trace_s = std::max(o.trace_s, last_s - first_s);
}

void Outcome::add(const Outcome& other) {
  for (const auto& [key, sums] : other.rows) {
    RowSums& row = rows[key];
    row.calls += sums.calls;
    row.bytes += sums.bytes;
    row.ends += sums.ends;
    row.timed_ends += sums.timed_ends;
    row.traced_s += sums.traced_s;
    row.replayed_s += sums.replayed_s;
  }
  records += other.records;
  add_reasons(marks, other.marks);
  add_reasons(dropped, other.dropped);
  add_reasons(left_out, other.left_out);
  assumed.insert(other.assumed.begin(), other.assumed.end());
  moved_as_bytes.insert(other.moved_as_bytes.begin(), other.moved_as_bytes.end());
  formats.insert(other.formats.begin(), other.formats.end());
  verified += other.verified;
  unverified += other.unverified;
  timed += other.timed;
  wrong += other.wrong;
  if (first_wrong.empty()) first_wrong = other.first_wrong;
  pass_s = std::max(pass_s, other.pass_s);
  trace_s = std::max(trace_s, other.trace_s);
}

std::string to_text(const Outcome& outcome) { return to_bytes(outcome); }
Outcome outcome_of(std::string_view text) { return from_bytes<Outcome>(text); }

std::string header_text(const JobGroups& groups, int ranks, int traced_ranks) {
  constexpr std::size_t most = 16;
  std::string text;
  for (std::size_t g = 0; g < std::min(most, groups.groups.size()); ++g) {
    const JobGroup& group = groups.groups[g];
    text += fmt::format("# {}", group.text());
    if (group.ranks() < group.traced_ranks)
      text += fmt::format(" of {} in the traces", group.traced_ranks);
    text += group.unusable.empty() ? "\n" : fmt::format(": {}\n", group.unusable);
  }
  if (groups.groups.size() > most)
    text += fmt::format("# and {} more groups\n", groups.groups.size() - most);
  if (ranks < traced_ranks)
    text += fmt::format(
        "# {} of {} ranks: groups keep the members below {}; what each rank contributes keeps its size, "
        "results of all_gather and inputs of reduce_scatter shrink; a root that is not here becomes "
        "group rank 0\n",
        ranks, traced_ranks, ranks);
  return text;
}

std::string text_of(const Outcome& o, bool listed) {
  std::string text = fmt::format("# traces: {}; {} in the files\n", fmt::join(o.formats, ", "),
                                 counted(o.records, "record"));
  text += lines("no call", o.marks);
  text += lines("left out", o.left_out);
  text += lines("dropped", o.dropped);
  text += lines("assumed", o.assumed);
  text += lines("moved as bytes, since the library has no such type", o.moved_as_bytes);
  text += fmt::format("#\n# {:<15} {:>6} {:>9} {:>12} {:>9} {:>7} {:>12}", "call", "ranks", "calls",
                      "bytes", "type", "op", "trace(us)");
  if (!listed) text += fmt::format(" {:>12} {:>7}", "here(us)", "ratio");
  text += '\n';
  double calls = 0, traced_s = 0, replayed_s = 0;
  for (const auto& [key, sums] : o.rows) {
    text += row_text(key, sums, listed);
    calls += sums.calls;
    traced_s += sums.traced_s;
    replayed_s += sums.replayed_s;
  }
  text += fmt::format("#\n# {}", counted(static_cast<std::uint64_t>(std::llround(calls)), "call"));
  if (traced_s > 0) text += fmt::format("; in the trace {} of all ranks", seconds_text(traced_s));
  if (!listed)
    text += fmt::format("; here {} of all ranks, {} from the first to the last",
                        seconds_text(replayed_s), seconds_text(o.pass_s));
  if (o.trace_s > 0)
    text +=
        fmt::format("; {} between the first and the last in the trace", seconds_text(o.trace_s));
  text += o.spoiled.empty() ? "\n" : fmt::format("\n# {}\n", o.spoiled);
  return text + verdict(o, listed);
}

int exit_code_of(const Outcome& o) {
  if (o.wrong > 0) return exit_code(Exit::wrong_data);
  return exit_code(o.dropped.empty() && o.spoiled.empty() ? Exit::passed : Exit::inconclusive);
}

}  // namespace ccl_tests::replay
