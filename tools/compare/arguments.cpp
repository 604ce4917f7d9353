#include "tools/compare/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "src/core/error.hpp"
#include "src/core/output_file.hpp"
#include "src/core/quote.hpp"
#include "src/options/command_line.hpp"
#include "src/options/values.hpp"
#include "src/record/quantity_text.hpp"

namespace ccl_tests::compare {
namespace {

std::string file_of(const std::string& text, const std::vector<std::string>& suffixes) {
  if (const std::string advice = piping_advice(text); !advice.empty())
    throw UsageError(fmt::format("{}: {}", quote(text, shown_path_characters), advice));
  if (std::ranges::none_of(suffixes, [&](const std::string& suffix) {
        return text.size() > suffix.size() && text.ends_with(suffix);
      }))
    throw UsageError(fmt::format("{} is not accepted; use a file name that ends in {}",
                                 quote(text, shown_path_characters), fmt::join(suffixes, " or ")));
  return text;
}

double share(const std::string& percent) {
  constexpr double most = 100;
  const double value = parse_number(percent, 0);
  if (value <= 0 || value >= most)
    throw UsageError(
        fmt::format("{} is not accepted; use a number above 0 and below {}", quote(percent), most));
  return value / 100;
}

double limit(const std::string& text) {
  const double value = parse_number(text, 0);
  if (value != 0 && value < 1)
    throw UsageError(fmt::format("{} is not accepted; use 0 or a number from 1 on", quote(text)));
  return value;
}

std::string command(const std::string& text) {
  if (text.find_first_not_of(" \t\n") == std::string::npos)
    throw UsageError("an empty command is not accepted");
  return text;
}

void check(Arguments& a) {
  const bool base = !a.commands.base.empty();
  const bool head = !a.commands.head.empty();
  if (!a.files.empty()) {
    if (base || head || a.commands.aa)
      throw UsageError("files and --base, --head or --aa exclude each other");
    if (a.files.size() != 2)
      throw UsageError(counted(a.files.size(), "file") +
                       " given; use two, BASE.jsonl and HEAD.jsonl");
    return;
  }
  if (!base) throw UsageError("use two files, or --base CMD with --head CMD or --aa; see --help");
  if (head == a.commands.aa)
    throw UsageError(head ? "--head and --aa exclude each other" : "--base needs --head or --aa");
  if (a.plan.most_pairs > 0 && a.plan.most_pairs < a.plan.pairs)
    throw UsageError(
        fmt::format("--max-pairs {} is below --pairs {}", a.plan.most_pairs, a.plan.pairs));
  if (a.commands.aa) a.commands.head = a.commands.base;
}

// A file that is written beside the table.
void declare_file(FlagSet& set, std::string& target, const char* name,
                  const std::vector<std::string>& suffixes, const char* what) {
  set.add(target, name, "FILE",
          fmt::format("also write FILE, {} ({})", what, fmt::join(suffixes, " or ")),
          [suffixes](const std::string& text) { return file_of(text, suffixes); },
          {.file_use = FileUse::written});
}

}  // namespace

void declare_flags(FlagSet& set, Arguments& a) {
  constexpr int most_pairs = 1000;
  set.begin(Group::what);
  set.add(a.commands.base, "--base", "CMD",
          "shell command that ends with a program and its flags; -J FILE is appended", command);
  set.add(a.commands.head, "--head", "CMD", "the same for the version that may be slower", command);
  set.add(a.commands.aa, "--aa", "", "run --base against itself; must find nothing", zero_or_one());
  set.begin(Group::measuring);
  set.add(a.plan.threshold, "--threshold", "PERCENT", "difference that matters", share,
          {.by_default = "5"});
  set.add(a.plan.any_arithmetic, "--any-arithmetic", "",
          "compare also the suite's reductions with the library's (--backend-option reduce)",
          zero_or_one());
  set.add(a.plan.pairs, "--pairs", "N", "pairs of runs that test the rows that the screen flagged",
          in_range(1, most_pairs));
  set.add(
      a.plan.most_pairs, "--max-pairs", "N",
      "double the pairs up to N while a row is undecided and none slower; false alarms stay at 5 %",
      in_range(1, most_pairs), {.by_default = "--pairs"});
  set.add(
      a.plan.time_budget_s, "--time-budget", "TIME",
      "start no further pair of the test after TIME (90s, 5m); rows that are undecided then are inconclusive",
      duration(), {.by_default = "as long as it takes"});
  set.add(
      a.plan.probe_limit, "--probe-limit", "X",
      "draw a pair again if the round trip between two cores changes more than X times; 0: do not probe",
      limit);
  set.begin(Group::output);
  declare_file(set, a.json, "--json", {".jsonl", ".json"}, "JSON lines");
  declare_file(set, a.markdown, "--markdown", {".md"}, "a table for a pull request");
  declare_file(set, a.junit, "--junit", {".xml"}, "JUnit XML");
  set.add(a.help, "-h,--help", "", "print this help", zero_or_one());
}

ProgramTexts texts() {
  static constexpr ExitText exits[] = {
      {"0", "no row is confirmed slower"},
      {"2", "usage or runs that cannot be compared"},
      {"4", "a command failed"},
      {"6", "a row is confirmed slower (with --aa: any difference was confirmed)"},
      {"7", "a run found wrong data, or bits that vary"},
      {"8", "nothing is slower but a flagged row is inconclusive"}};
  return {.name = "ccl_compare",
          .about = "compares two versions of a program or a library",
          .operands = "[BASE.jsonl HEAD.jsonl]",
          .examples = {{"ccl_compare base.jsonl head.jsonl", "files that -J wrote"},
                       {"ccl_compare --base 'old/all_reduce_perf' --head 'new/all_reduce_perf'",
                        "runs both in turns"}},
          .exits = exits};
}

Arguments parse(const std::vector<std::string>& words) {
  Arguments a;
  FlagSet set;
  declare_flags(set, a);
  CommandLine line = read_command_line(set, words);
  std::erase_if(line.unknown, [&](const std::string& word) {
    if (word.starts_with('-')) return false;
    a.files.push_back(word);
    return true;
  });
  a.help = !read_flags(set, line, "ccl_compare");
  if (a.help) return a;
  check(a);
  const std::set<std::string> of_commands = {"--pairs", "--max-pairs", "--time-budget",
                                             "--probe-limit"};
  for (const GivenFlag& given : line.given)
    if (!a.files.empty() && of_commands.contains(given.flag->names.front()))
      throw UsageError(
          fmt::format("{}: two files are compared as they are, and nothing is run; "
                      "accepted: with --base CMD",
                      given.flag->names.front()));
  return a;
}

}  // namespace ccl_tests::compare
