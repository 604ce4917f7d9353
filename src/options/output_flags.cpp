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
  try {
    if (const double gb_per_s = parse_number(text, 0); gb_per_s > 0)
      return {.measured = false, .gb_per_s = gb_per_s};
  } catch (const UsageError&) {  // said below
  }
  throw UsageError(quote(text) + " is not a bandwidth; accepted: auto, or GB/s above 0");
}

// Limits a text that is in every sample of a .prom and every line of a .csv.
std::string parse_label(const std::string& text) {
  constexpr std::size_t most = 256;
  if (text.size() > most)
    throw UsageError(fmt::format("{} is too long; accepted: up to {} B", quote(text), most));
  return text;
}

}  // namespace

void declare_output(ProgramFlags& flags, const AcceptedFlags& taken) {
  FlagSet& set = flags.set;
  Options& o = flags.options;
  const bool rows = taken.sweep.empty();
  set.begin(Group::output);
  Flag& results = set.add_custom(
      "-J,--output_file", "FILE",
      rows ? "also write FILE: .jsonl, .json (nccl-tests), .csv, .xml, ...; repeatable"
           : "also write FILE: .jsonl",
      [&files = o.output.files](const std::string& text) {
        const std::string file = parse_file(text);
        if (std::find(files.begin(), files.end(), file) == files.end()) files.push_back(file);
      },
      [&files = o.output.files] { return setting_of(files); },
      {.page = Page::output, .shared = false, .repeatable = true, .file_use = FileUse::written});
  results.written = [&files = o.output.files] { return files; };
  set.add(o.output.timestamps, "-S,--report_timestamps", "0|1", "1: add date and time to each row",
          {.missing = taken.sweep, .recorded = "timestamps", .shared = false});
  set.add(o.output.stats, "--stats", "",
          "add columns: half of the 95 % interval, 10th percentile, stamps, flags",
          {.missing = taken.sweep, .shared = false});
  set.add(o.output.raw, "--raw", "", "keep every stamp of a row in .jsonl files",
          {.missing = taken.sweep, .shared = false});
  set.add(o.output.explain, "--explain", "",
          "explain each column and line of the output, then exit",
          {.missing = taken.sweep, .shared = false});
  set.add(o.output.label, "--label", "TEXT", "keep TEXT with the results", parse_label,
          {.missing = taken.sweep, .recorded = "label"});
  const auto declare_limit = [&set](std::vector<SizeLimit>& limits, const char* name,
                                    const char* unit, const char* help, FlagProperties properties) {
    properties.repeatable = true;
    set.add_custom(
        name, fmt::format("SIZE:{}", unit), help,
        [&limits, unit](const std::string& text) { limits.push_back(parse_limit(text, unit)); },
        [&limits] { return setting_of(limits); }, std::move(properties));
  };
  declare_limit(
      o.limits.min_busbw, "--min-busbw", "GB/s",
      "exit 6 if the row of SIZE is slower; with :in_place or :out_of_place after it only that "
      "time counts; repeatable",
      {.page = Page::output,
       .brief = "exit 6 if the row of SIZE is slower; repeatable",
       .missing = taken.sweep.empty() ? taken.types : taken.sweep,
       .recorded = "min_busbw"});
  declare_limit(o.limits.max_time, "--max-time", "us",
                "exit 6 if the row of SIZE takes longer; placements as --min-busbw; repeatable",
                {.page = taken.sizes.empty() ? Page::none : Page::output,
                 .brief = "exit 6 if the row of SIZE takes longer; repeatable",
                 .missing = taken.sweep,
                 .recorded = "max_time"});
  set.add(
      o.limits.baseline, "--baseline", "FILE.jsonl",
      "exit 6 if a row takes longer than in the earlier runs of a file, by more than --tolerance",
      any_text(), {.missing = taken.sweep, .recorded = "baseline", .file_use = FileUse::read});
  set.add(o.limits.tolerance, "--tolerance", "PERCENT",
          "by how much times may be longer than those of --baseline", percent(0, 1000),
          {.by_default = "20", .missing = taken.sweep, .recorded = "tolerance"});
  set.add_custom(
      "--ceiling", "auto|GB/s",
      "compare rows with a link of this bandwidth; auto: measure the link with a pingpong",
      [&ceiling = o.measure.ceiling](const std::string& text) { ceiling = parse_ceiling(text); },
      [&ceiling = o.measure.ceiling]() -> SettingValue {
        return ceiling.measured ? SettingValue("auto") : setting_of(ceiling.gb_per_s);
      },
      {.missing = taken.sweep, .recorded = "ceiling"});
  set.add(o.output.verdict, "--verdict", "FILE", "write the verdict to FILE as one JSON object",
          parse_file, {.missing = taken.sweep, .shared = false, .file_use = FileUse::written});
  set.add(
      o.output.exit_codes, "--exit-codes", "NAME",
      "end with the exit codes of NAME: native, nagios, npd (Node Problem Detector) or aicr; all "
      "but native print the verdict first, in at most 80 bytes",
      name_of(all_exit_codes()), {.by_default = "native", .shared = false});
  set.add(o.job.heartbeat_file, "--heartbeat", "FILE",
          "write progress lines to FILE instead of stderr", any_text(),
          {.shared = false, .file_use = FileUse::written});
  set.add(o.output.verbose, "--verbose", "",
          "print the whole header: library, algorithms, memory, environment",
          {.missing = taken.sweep, .shared = false});
  set.add(flags.version, "--version", "", "print the version and exit", {.shared = false});
  set.add(flags.help, "-h,--help", "", "print one page of help",
          {.page = Page::output,
           .brief = "this page; --help-all describes every option",
           .shared = false});
  set.add(flags.help_all, "--help-all", "", "print this description of every option",
          {.shared = false});
  set.begin(Group::variables, taken.sweep);
  set.add(o.output.monitor_verdict, monitor_verdict_variable, "", "", any_text(),
          {.shared = false});
  set.add(o.limits.min_average_busbw, "NCCL_TESTS_MIN_BW", "GB/s",
          "exit 6 if the average bus bandwidth is below 0.9 times this", at_least(0),
          {.recorded = "min_average_busbw"});
}

}  // namespace ccl_tests
