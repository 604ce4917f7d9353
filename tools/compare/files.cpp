#include "tools/compare/files.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/record/quantity_text.hpp"
#include "src/record/row_text.hpp"
#include "src/run/rank_facts.hpp"

namespace ccl_tests::compare {
namespace {

// Returns the names of the items, each once: "float,half".
template <class T, class Name>
std::string names_of(const std::vector<T>& items, Name name_of) {
  std::set<std::string> names;
  for (const T& item : items) names.emplace(name_of(item));
  return fmt::format("{}", fmt::join(names, ","));
}

std::string waits(const NamedRun& run) { return run.run.info.oversubscribed ? "yes" : "no"; }

constexpr std::string_view accepted = "accepted: a file that a program wrote with -J NAME.jsonl";

std::vector<NamedRun> runs_in(const std::string& path) {
  std::vector<RecordedRun> runs;
  try {
    runs = read_runs(path);
  } catch (const Error& e) {
    throw UsageError(fmt::format("{}; {}", e.what(), accepted));
  }
  if (runs.empty())
    throw UsageError(
        fmt::format("{} holds no run; {}", quote(path, shown_path_characters), accepted));
  std::vector<NamedRun> named;
  for (RecordedRun& run : runs) {
    const std::string name =
        runs.size() == 1 ? path : fmt::format("{} (run {})", path, named.size() + 1);
    named.push_back({name, std::move(run)});
  }
  return named;
}

// Start times are ISO 8601; those of one machine and zone are in the order of their text.
bool in_turns(const std::vector<NamedRun>& base, const std::vector<NamedRun>& head) {
  const auto start = [](const NamedRun& run) { return run.run.info.start_time; };
  const auto [first_base, last_base] = std::ranges::minmax_element(base, {}, start);
  const auto [first_head, last_head] = std::ranges::minmax_element(head, {}, start);
  return start(*last_base) > start(*first_head) && start(*last_head) > start(*first_base);
}

}  // namespace

void check_right(const NamedRun& run) {
  const std::string wrong = found_wrong(run.run);
  if (!wrong.empty())
    throw Error(fmt::format("cannot compare: {}: {}: {}", run.name, run.run.info.program, wrong),
                Exit::wrong_data);
}

void check_comparable(const NamedRun& base, const NamedRun& head, Routings routings) {
  check_right(base);
  check_right(head);
  check_same_measurement({base.name, base.run.info}, {head.name, head.run.info}, routings);
  for (const NamedRun* run : {&base, &head})
    if (run->run.rows.empty())
      throw UsageError(fmt::format("cannot compare: {} has no rows", run->name));
  const auto check = [&](const char* field, auto name_of) {
    check_same(field, names_of(base.run.rows, name_of), base.name, names_of(head.run.rows, name_of),
               head.name);
  };
  check("datatype", [](const Row& row) { return name(row.type); });
  check("op", [](const Row& row) { return row.op ? name(*row.op) : "none"; });
}

void check_same_arithmetic(const NamedRun& base, const NamedRun& head) {
  std::map<RowKey, std::string> known;
  for (const Row& row : base.run.rows) known[key_of(row, false)] = row.arithmetic;
  for (const Row& row : head.run.rows) {
    const auto found = known.find(key_of(row, false));
    if (found == known.end() || same_arithmetic(found->second, row.arithmetic)) continue;
    throw UsageError(fmt::format(
        "cannot compare: the arithmetic of {} is the {}'s in {} and the {}'s in {}; measure both "
        "with the same --backend-option reduce, or add --any-arithmetic",
        row_name(row, row.bytes), found->second, base.name, row.arithmetic, head.name));
  }
}

void check_same_number(const NamedRun& base, const NamedRun& head) {
  check_same("whether ranks wait for CPUs", waits(base), base.name, waits(head), head.name);
}

// Returns the settings of libraries that `run` has, and `other` has not or otherwise.
std::string variables_beyond(const RunInfo& other, const RunInfo& run) {
  std::vector<std::string> beyond;
  for (const std::string& variable : run.environment)
    if (!is_of_launcher(variable) &&
        std::ranges::find(other.environment, variable) == other.environment.end())
      beyond.push_back(variable);
  return fmt::format("{}", fmt::join(beyond, " "));
}

std::vector<std::string> differences(const NamedRun& base, const NamedRun& head) {
  std::vector<std::string> notes;
  const auto compare = [&](const char* field, const std::string& a, const std::string& b) {
    if (a != b)
      notes.push_back(fmt::format("{} differs: {} in {}, {} in {}", field, quote(a), base.name,
                                  quote(b), head.name));
  };
  const auto compare_ranks = [&](const char* field, auto name_of) {
    compare(field, names_of(base.run.info.rank_lines, name_of),
            names_of(head.run.info.rank_lines, name_of));
  };
  const RunInfo& a = base.run.info;
  const RunInfo& b = head.run.info;
  compare("version", a.version, b.version);
  compare("library_version", a.library_version, b.library_version);
  compare_ranks("device_name", [](const RankLine& line) { return line.device_name; });
  compare_ranks("host", [](const RankLine& line) { return line.host; });
  compare("launcher", a.launcher, b.launcher);
  compare("environment", variables_beyond(b, a), variables_beyond(a, b));
  compare("rank_differences", fmt::format("{}", fmt::join(a.rank_differences, "; ")),
          fmt::format("{}", fmt::join(b.rank_differences, "; ")));
  compare("placement", a.placement, b.placement);
  compare("routing", routing_of(a), routing_of(b));
  compare("whether ranks wait for CPUs", waits(base), waits(head));
  const auto arithmetic = [](const Row& row) {
    return row.arithmetic.empty() ? "not known" : row.arithmetic;
  };
  compare("arithmetic", names_of(base.run.rows, arithmetic), names_of(head.run.rows, arithmetic));
  return notes;
}

Report compare_files(const std::string& base_path, const std::string& head_path, const Plan& plan) {
  const double threshold = plan.threshold;
  const std::vector<NamedRun> base = runs_in(base_path);
  const std::vector<NamedRun> head = runs_in(head_path);
  for (const auto* side : {&base, &head}) std::ranges::for_each(*side, check_right);
  for (const NamedRun& run : base) check_comparable(base.front(), run, Routings::same);
  try {
    for (const NamedRun& run : head) check_comparable(base.front(), run, Routings::any);
  } catch (const UsageError& e) {
    const auto is_empty = [](const NamedRun& run) { return run.run.rows.empty(); };
    if (is_empty(base.front()) || std::ranges::any_of(head, is_empty)) throw;
    throw UsageError(fmt::format("{}; scripts/plot.py {} {} -o both.svg draws both", e.what(),
                                 shell_quoted(base_path), shell_quoted(head_path)));
  }
  if (!plan.any_arithmetic)
    for (const auto* side : {&base, &head})
      for (const NamedRun& run : *side) check_same_arithmetic(base.front(), run);

  Report report;
  report.program = base.front().run.info.program;
  report.base = base_path;
  report.head = head_path;
  report.threshold = threshold;
  report.notes = differences(base.front(), head.front());
  for (const std::vector<NamedRun>* side : {&base, &head})
    for (const NamedRun& run : *side)
      if (!run.run.summary || !run.run.summary->complete)
        report.notes.push_back(fmt::format("{} did not reach its end", run.name));

  const std::size_t count = std::min(base.size(), head.size());
  // Single runs are compared by their intervals, and a percentile has none.
  if (count > 1) {
    check_same_number(base.front(), head.front());
    report.by = judged_by(base.front().run.info);
  }
  std::vector<RunPair> pairs;
  for (std::size_t i = 0; i < count; ++i)
    pairs.push_back({times_of(base[i].run, report.by), times_of(head[i].run, report.by)});
  const Matched matched = match(pairs);
  if (matched.rows.empty())
    throw UsageError(
        fmt::format("cannot compare: no row is in {} and in {}", base_path, head_path));
  Comparison& result = report.comparison;
  result.only_base = matched.only_base;
  result.only_head = matched.only_head;
  result.tested_pairs = count;
  if (count == 1) {
    report.hints = true;
    for (const NamedRun* run : {&base.front(), &head.front()})
      if (run->run.summary && run->run.summary->verdict == Verdict::unreliable)
        report.notes.push_back(fmt::format("UNRELIABLE: {}: do not quote its times", run->name));
    report.notes.push_back(
        "one run a side: the verdicts are hints; runs of the same program differ by more than the "
        "intervals say; --base CMD --head CMD confirms");
    result.rows = hint(matched, threshold);
    if (std::ranges::none_of(result.rows,
                             [](const RowResult& row) { return row.interval.has_value(); }))
      report.notes.push_back(
          "no time has an interval: runs with -n have none, nor have rows of two to five cycles; "
          "nothing can be said of single runs");
  } else {
    result.rows = judge(matched, threshold);
    const std::size_t fewest = fewest_pairs(matched.rows.size());
    if (count < fewest)
      report.notes.push_back(
          fmt::format("{} runs a side cannot confirm any of {}; at least {} are needed", count,
                      counted(matched.rows.size(), "row"), fewest));
    if (!in_turns(base, head))
      report.notes.push_back(
          "the runs were not made in turns: a change of the machine between them looks like a "
          "change of the program");
  }
  if (base.size() != head.size())
    report.notes.push_back(fmt::format("{} in base, {} in head: the first {} compared",
                                       counted(base.size(), "run"), head.size(),
                                       count == 1 ? "is" : fmt::format("{} are", count)));
  for (const RowResult& row : result.rows) result.flagged += row.flagged ? 1 : 0;
  return report;
}

}  // namespace ccl_tests::compare
