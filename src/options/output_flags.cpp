// Flags about results, files and limits.
#include <fmt/format.h>

#include <algorithm>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/options/flags.hpp"
#include "src/options/values.hpp"

namespace ccl_tests {

namespace {

CeilingOption parse_ceiling(const std::string& text) {
  if (text == "auto") return {.measured = true, .gb_per_s = {}};
  const double gb_per_s = [&] {
    try {
      return parse_number(text, 0);
    } catch (const UsageError&) {
      throw UsageError(fmt::format("{} is not a bandwidth; accepted: auto, or GB/s", quote(text)));
    }
  }();
  if (gb_per_s <= 0)
    throw UsageError(quote(text) + " is no bandwidth; accepted: auto, or GB/s above 0");
  return {.measured = false, .gb_per_s = gb_per_s};
}

// It is in every sample of a .prom and every line of a .csv.
std::string parse_label(const std::string& text) {
  constexpr std::size_t most = 256;
  if (text.size() > most)
    throw UsageError(fmt::format("{} is too long; accepted: up to {} B", quote(text), most));
  return text;
}

}  // namespace

void declare_output(FlagSet& set, Options& o, const AcceptedFlags& taken, AskedTexts& asked) {
  const bool rows = taken.sweep.empty();
  set.begin(Group::output);
  set.add_custom(
         "-J,--output_file", "FILE",
         rows ? "also write FILE: .jsonl, .json (nccl-tests), .csv, .xml, ...; repeatable"
              : "also write FILE: .jsonl",
         [&files = o.output.files](const std::string& text) {
           const std::string file = parse_file(text);
           if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
         },
         [&files = o.output.files] { return setting_of(files); })
      .on(Page::output)
      .per_process()
      .writes(o.output.files)
      .repeatable = true;
  set.add(o.output.timestamps, "-S,--report_timestamps", "0|1", "1: add date and time to each row",
          zero_or_one())
      .needs(taken.sweep)
      .recorded("timestamps")
      .per_process();
  set.add(o.output.stats, "--stats", "",
          "add columns: half of the 95 % interval, 10th percentile, stamps, flags", zero_or_one())
      .needs(taken.sweep)
      .per_process();
  set.add(o.output.raw, "--raw", "", "keep every stamp of a row in .jsonl files", zero_or_one())
      .needs(taken.sweep)
      .per_process();
  set.add(o.output.explain, "--explain", "",
          "explain each column and line of the output, then exit", zero_or_one())
      .needs(taken.sweep)
      .per_process();
  set.add(o.output.label, "--label", "TEXT", "keep TEXT with the results", parse_label)
      .needs(taken.sweep)
      .recorded("label");
  const auto limit = [](const char* unit) {
    return [unit](const std::string& text) { return parse_limit(text, unit); };
  };
  set.append(
         o.limits.min_busbw, "--min-busbw", "SIZE:GB/s",
         "exit 6 if the row of SIZE is slower; with :in_place or :out_of_place after it only that "
         "time counts; repeatable",
         limit("GB/s"))
      .needs(taken.sweep.empty() ? taken.types : taken.sweep)
      .on(Page::output, "exit 6 if the row of SIZE is slower; repeatable")
      .recorded("min_busbw");
  set.append(o.limits.max_time, "--max-time", "SIZE:us",
             "exit 6 if the row of SIZE takes longer; placements as --min-busbw; repeatable",
             limit("us"))
      .needs(taken.sweep)
      .on(taken.sizes.empty() ? Page::none : Page::output,
          "exit 6 if the row of SIZE takes longer; repeatable")
      .recorded("max_time");
  set.add(
         o.limits.baseline, "--baseline", "FILE.jsonl",
         "exit 6 if a row takes longer than in the earlier runs of a file, by more than --tolerance",
         any_text())
      .needs(taken.sweep)
      .reads_file()
      .recorded("baseline");
  set.add(o.limits.tolerance, "--tolerance", "PERCENT",
          "by how much times may be longer than those of --baseline", percent(0, 1000))
      .by_default("20")
      .needs(taken.sweep)
      .recorded("tolerance");
  set.add_custom(
         "--ceiling", "auto|GB/s",
         "compare rows with a link of this bandwidth; auto: measure the link with a pingpong",
         [&ceiling = o.measure.ceiling](const std::string& text) { ceiling = parse_ceiling(text); },
         [&ceiling = o.measure.ceiling]() -> SettingValue {
           return ceiling.measured ? SettingValue("auto") : setting_of(ceiling.gb_per_s);
         })
      .offers({"auto"})
      .needs(taken.sweep)
      .recorded("ceiling");
  set.add(o.output.verdict, "--verdict", "FILE", "write the verdict to FILE as one JSON object",
          parse_file)
      .needs(taken.sweep)
      .per_process()
      .writes(o.output.verdict);
  set.add(
         o.output.exit_codes, "--exit-codes", "NAME",
         "end with the exit codes of NAME: native, nagios, npd (Node Problem Detector) or aicr; all "
         "but native print the verdict first, in at most 80 bytes",
         name_of(all_exit_codes()))
      .by_default("native")
      .per_process();
  set.add(o.job.heartbeat_file, "--heartbeat", "FILE",
          "write progress lines to FILE instead of stderr", any_text())
      .per_process()
      .writes(o.job.heartbeat_file);
  set.add(o.output.verbose, "--verbose", "",
          "print the whole header: library, algorithms, memory, environment", zero_or_one())
      .needs(taken.sweep)
      .per_process();
  set.add(asked.version, "--version", "", "print the version and exit", zero_or_one())
      .per_process();
  set.add(asked.help, "-h,--help", "", "print one page of help", zero_or_one())
      .on(Page::output, "this page; --help-all describes every option")
      .per_process();
  set.add(asked.help_all, "--help-all", "", "print this description of every option", zero_or_one())
      .per_process();
  set.begin(Group::variables, taken.sweep);
  set.add(o.output.monitor_verdict, monitor_verdict_variable, "", "", any_text()).per_process();
  set.add(o.limits.min_average_busbw, "NCCL_TESTS_MIN_BW", "GB/s",
          "exit 6 if the average bus bandwidth is below 0.9 times this", at_least(0))
      .recorded("min_average_busbw");
}

}  // namespace ccl_tests
