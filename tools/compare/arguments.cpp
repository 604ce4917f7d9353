#include "tools/compare/arguments.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string_view>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/options/values.hpp"

namespace ccl_tests::compare {
namespace {

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string file_of(const std::string& text, std::string_view suffix) {
  if (text.size() <= suffix.size() || !text.ends_with(suffix))
    throw UsageError(fmt::format("{} is not accepted; use a file name that ends in {}",
                                 quote(text, shown_path_characters), suffix));
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

void check(Arguments& a, bool base, bool head) {
  if (!a.files.empty()) {
    if (base || head || a.commands.aa)
      throw UsageError("files and --base, --head or --aa exclude each other");
    if (a.files.size() != 2)
      throw UsageError(
          fmt::format("{} files given; use two, BASE.jsonl and HEAD.jsonl", a.files.size()));
    return;
  }
  if (!base) throw UsageError("use two files, or --base CMD with --head CMD or --aa; see --help");
  if (head == a.commands.aa)
    throw UsageError(head ? "--head and --aa exclude each other" : "--base needs --head or --aa");
  if (a.commands.aa) a.commands.head = a.commands.base;
}

}  // namespace

Arguments parse(int argc, char** argv) {
  Arguments a;
  bool base = false, head = false;
  CLI::App app(
      "Compares two versions of a program or a library: two results files, or two commands that "
      "run in\nturns. Says which rows are slower.",
      "ccl_compare");
  const auto add = [&](const char* flag, const char* value, const char* help, const auto& set) {
    const auto call = [flag, set](const std::string& text) {
      try {
        set(text);
      } catch (const UsageError& e) {
        throw UsageError(std::string(flag) + ": " + e.what());
      }
    };
    app.add_option_function<std::string>(flag, call, help)->type_name(value);
  };
  const auto command = [](std::string& to, bool& given) {
    return [&to, &given](const std::string& text) {
      if (text.find_first_not_of(" \t\n") == std::string::npos)
        throw UsageError("an empty command is not accepted");
      to = text;
      given = true;
    };
  };
  app.add_option("FILES", a.files, "BASE.jsonl and HEAD.jsonl, as programs write them with -J")
      ->type_name("");
  add("--base", "CMD", "shell command that ends with a program and its flags; -J FILE is appended",
      command(a.commands.base, base));
  add("--head", "CMD", "the same for the version that may be slower",
      command(a.commands.head, head));
  app.add_flag("--aa", a.commands.aa, "run --base against itself; must find nothing");
  add("--threshold", "PERCENT", "difference that matters [5]",
      [&](const std::string& t) { a.plan.threshold = share(t); });
  add("--pairs", "N", "pairs of runs that test the rows that the screen flagged [12]",
      [&](const std::string& t) {
        constexpr int most = 1000;
        a.plan.pairs = static_cast<std::size_t>(parse_int(t, 1, most));
      });
  add("--probe-limit", "X",
      "draw a pair again if the round trip between two cores changes more than X times; 0: do not "
      "probe [1.5]",
      [&](const std::string& t) {
        a.plan.probe_limit = limit(t);
        a.commands.probe = a.plan.probe_limit != 0;
      });
  add("--json", "FILE", "also write FILE, JSON lines (.jsonl)",
      [&](const std::string& t) { a.json = file_of(t, ".jsonl"); });
  add("--markdown", "FILE", "also write FILE, a table for a pull request (.md)",
      [&](const std::string& t) { a.markdown = file_of(t, ".md"); });
  add("--junit", "FILE", "also write FILE, JUnit XML (.xml)",
      [&](const std::string& t) { a.junit = file_of(t, ".xml"); });
  app.footer(
      "Exit codes: 0 no row is confirmed slower, 2 usage or runs that cannot be compared, 4 a "
      "command failed,\n6 a row is confirmed slower, 8 nothing is slower but a flagged row is "
      "inconclusive. With --aa: 6 if any\ndifference was confirmed, otherwise 0.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    fmt::print("{}", app.help());
    a.help = true;
    return a;
  } catch (const CLI::ParseError& e) {
    throw UsageError(one_line(e.what()) + "; see --help");
  }
  check(a, base, head);
  return a;
}

}  // namespace ccl_tests::compare
