#include "src/report/table_footer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/core/error.hpp"
#include "src/measure/repeatability.hpp"
#include "src/record/quantity_text.hpp"
#include "src/record/reproductions.hpp"
#include "src/report/crash_footer.hpp"
#include "src/report/text.hpp"

namespace ccl_tests {
namespace {

// printf's %g, but never with an exponent.
std::string general(double value) {
  if (!std::isfinite(value) || value < 0) value = 0;
  if (value >= 999999.5) return fmt::format("{:.0f}", value);
  if (value >= 1e-4 || value == 0) return fmt::format("{:g}", value);
  std::string text = fmt::format("{:.10f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string nccl_tests_lines(const RunInfo& run, const RunSummary& summary) {
  const std::string_view enough =
      !summary.bandwidth_ok ? "" : (*summary.bandwidth_ok ? "OK" : "FAILED");
  std::string lines =
      fmt::format("# {:<20} : {} {}\n", "Out of bounds values", summary.failed_checks,
                  summary.failed_checks > 0 ? "FAILED" : "OK");
  lines += fmt::format("# {:<20} : {} {}\n", "Avg bus bandwidth", general(summary.average_busbw),
                       enough);
  lines += fmt::format("#\n# Collective test concluded: {}\n", harmless(run.program));
  if (!summary.memory.empty()) lines += comment(summary.memory);
  return lines;
}

std::vector<std::string> missed(const RunSummary& summary) {
  return limit_lines(summary.limits, LimitVerdict::missed);
}
std::vector<std::string> undecided(const RunSummary& summary) {
  return limit_lines(summary.limits, LimitVerdict::undecided);
}

std::string results(const RunSummary& summary) {
  return summary.verified_calls > 0 ? "results correct" : "results not checked";
}

// Returns "+-2.5 %", and "+-4983 %" without an exponent.
std::string half_width(double share) {
  return share < 10 ? fmt::format("+-{:.3g} %", 100 * share)
                    : fmt::format("+-{:.0f} %", 100 * share);
}

std::string within(std::optional<double> width) {
  return width ? fmt::format("within +-{:g} %", 100 * *width) : "not within +-100 %";
}

// Returns "; times within +-2 %, 8 of 48 up to +-15 %": what most of them are within, and all.
std::string precision_text(const RunSummary& summary) {
  if (summary.times == 0) return {};
  std::string text = "; times " + within(summary.usual_width);
  if (summary.unusual_times > 0 && summary.usual_width)
    text += fmt::format(", {} of {} {}", summary.unusual_times, summary.times,
                        summary.unbounded_times > 0
                            ? "wider, or without an interval"
                            : "up to " + half_width(summary.widest.value_or(0)));
  return text;
}

// Returns "; other programs used 1.0 of 2 CPUs"; empty: not so much that times are longer.
std::string crowd(const RunSummary& summary) {
  if (!summary.cpu_use || !is_crowded(*summary.cpu_use)) return {};
  return fmt::format("; other programs used {:.1f} of {} CPUs", summary.cpu_use->others,
                     summary.cpu_use->cpus);
}

// Returns why times are not to be quoted.
std::string doubt(const RunSummary& summary) {
  if (summary.stolen_times * 2 > summary.times)
    return fmt::format("a hypervisor took CPUs from the ranks during {} of {}",
                       summary.stolen_times, summary.times);
  return fmt::format("{} of {} are not within +-{:g} %", summary.wide_times, summary.times,
                     100 * WidthTally::wide);
}

std::string verdict(const RunInfo& run, const RunSummary& summary) {
  const int code = summary.exit_code;
  switch (summary.verdict) {
    case Verdict::incomplete: {
      const std::string rows = run.planned_rows ? fmt::format("{} of {}", summary.rows,
                                                              counted(*run.planned_rows, "row"))
                                                : counted(summary.rows, "row");
      return fmt::format("INCOMPLETE - exit code {}, {} measured", code, rows);
    }
    case Verdict::wrong:
      if (summary.wrong_rows == 0)
        return fmt::format("WRONG - wrong elements in calls before the first row (exit {})", code);
      return fmt::format("WRONG - {} of {} with wrong elements (exit {})", summary.wrong_rows,
                         counted(summary.rows, "row"), code);
    case Verdict::varies:
      return fmt::format("VARIES - {} of {} with bits that differ (exit {})",
                         summary.reproduction->varying, counted(summary.rows, "row"), code);
    case Verdict::slow:
      return fmt::format("SLOW - {} (exit {})",
                         counted(missed(summary).size(), "limit") + " missed", code);
    case Verdict::unreliable:
      if (code == 0)
        return fmt::format("UNRELIABLE - {}, do not quote {}: {}", results(summary),
                           summary.sure_from_bytes
                               ? "times below " + binary_size_text(*summary.sure_from_bytes)
                               : "the times",
                           doubt(summary));
      return fmt::format("UNRELIABLE - {}, {} (exit {})", results(summary),
                         !undecided(summary).empty() ? "a limit is not decided"
                         : hides_fault(summary)      ? "but --inject spoiled nothing that shows"
                                                     : "but bytes left by another interface",
                         code);
    case Verdict::ok: break;
  }
  return "OK - " + results(summary) + precision_text(summary) + crowd(summary);
}

// Returns whether more calls than were could be verified with these flags.
bool can_verify_all(const RunInfo& run) {
  const MeasureOptions& o = run.options.measure;
  return !run.options.check.all && o.aggregate == 1 && o.graph_launches == 0 && !o.per_iteration;
}

std::string correct(const RunInfo& run, const RunSummary& summary) {
  if (summary.failed_checks > 0)
    return summary.first_wrong.empty() ? "no - " + counted(summary.wrong_elements, "wrong element")
                                       : "no - first: " + summary.first_wrong;
  if (summary.verified_calls == 0) {
    if (summary.rows == 0) return "not checked - no row was measured";
    return run.options.check.calls == 0
               ? "not checked - -c 0 turns checks off"
               : fmt::format("not checked - none of {}", counted(summary.calls, "call"));
  }
  const std::string calls = fmt::format("0 wrong elements; {} of {} verified",
                                        summary.verified_calls, counted(summary.calls, "call"));
  if (!summary.complete) return fmt::format("so far - {} in the rows above", calls);
  return "yes - " + calls +
         (summary.verified_calls < summary.calls && can_verify_all(run)
              ? " (-c all verifies every call)"
              : "");
}

// Returns which times are wide, and what their intervals are of.
std::string streams(const RunInfo& run, const RunSummary& summary) {
  const std::size_t wide = summary.wide_times;
  const bool all = wide == 0;
  std::string text = is_doubtful(summary)            ? "no"
                     : all && crowd(summary).empty() ? "yes"
                                                     : "in part";
  if (all) {
    text += summary.times == 1 ? " - the time is within"
                               : fmt::format(" - all {} times are within", summary.times);
  } else {
    text += fmt::format(" - {} of {} not within", wide, counted(summary.times, "time"));
  }
  text += fmt::format(" +-{:g} % (95 % confidence)", 100 * WidthTally::wide);
  for (const WideTime& time : summary.widest_times) {
    const bool first = &time == &summary.widest_times.front();
    if (!first && time.half_width <= WidthTally::wide) break;
    text += first ? "; widest: " : ", ";
    text += time.place + (std::isfinite(time.half_width)
                              ? fmt::format(" ({})", half_width(time.half_width))
                              : " (no interval)");
  }
  if (const auto& repeats = summary.repeats) {
    const bool each = repeats->times >= summary.times;
    text +=
        fmt::format("; {} of 3 moments or more, {:.1f} s apart",
                    each ? "each" : fmt::format("{} of them", repeats->times), repeats->after_s);
    if (!each) text += ", the others of one: their next time may be another";
  }
  if (const std::string others = crowd(summary); !others.empty())
    text += others + ": without them times may be shorter";
  if (!all && run.oversubscribed) text += "; see the warning above";
  return text;
}

std::string reliable(const RunInfo& run, const RunSummary& summary) {
  if (!summary.complete || run.options.measure.iterations == 0 || summary.rows == 0) return {};
  if (summary.times > 0) return streams(run, summary);
  if (run.options.sweep.cycles != 1) return "not measured - the rows of the cycles show the spread";
  return fmt::format(
      "not measured - one batch of {} per row has no interval; rows have one without -n",
      run.options.measure.iterations);
}

// If none of n is wrong, with 95 % confidence fewer than 3 in n are (the rule of three, 0.95 = 1 - (1 - p)^n).
std::string soak(const RunSummary& summary) {
  constexpr double mib = 1 << 20;
  const Soak& s = *summary.soak;
  const auto n = static_cast<double>(summary.verified_calls);
  const std::string errors =
      summary.failed_checks > 0 || n == 0
          ? fmt::format("{} in {}", counted(summary.failed_checks, "wrong result"),
                        counted(summary.verified_calls, "verified operation"))
          : fmt::format("no error in {}: fewer than {:.2g} of all (95 % confidence)",
                        counted(summary.verified_calls, "verified operation"), 3 / n);
  return fmt::format(
      "{:.0f} s, {}; {}; memory of rank {}, which grew most: {:.1f} MiB after the first cycle, {:.1f} at the end",
      s.seconds, counted(s.cycles, "cycle"), errors, s.rank, s.first_bytes / mib,
      s.last_bytes / mib);
}

std::string late_rank(const LateRank& late) {
  return fmt::format(
      "{}{} entered last in {:.0f} % of {} samples (median {:.1f} us behind the median rank)",
      late.rank, late.host.empty() ? "" : " on " + late.host, 100 * late.share, late.samples,
      1e6 * late.late_s);
}

// Returns whether an undecided limit is one of a time, and not of a row that is not there. flag: of this limit alone; empty: any.
bool has_undecided_time(const RunSummary& summary, std::string_view flag = {}) {
  return std::any_of(summary.limits.begin(), summary.limits.end(), [&](const LimitFinding& found) {
    return found.verdict == LimitVerdict::undecided && found.value.has_value() &&
           (flag.empty() || found.flag == flag);
  });
}

// Returns what to look at between the hosts, by what the rows have shown.
std::string advice_on_links(const RunInfo& run, const RunSummary& summary) {
  if (summary.rows == 0)
    return "nothing has passed between the hosts yet: ping them, look at --interface and firewalls";
  if (summary.largest_bytes < run.max_bytes)
    return fmt::format(
        "sizes up to {} passed between these hosts: see if large packets do, too "
        "(ping -M do -s 8972 HOST; ip link shows the MTU)",
        binary_size_text(summary.largest_bytes));
  return "this size passed before: look at links and switches (ip -s link, dmesg)";
}

std::string next(const RunInfo& run, const RunSummary& summary) {
  const int code = summary.exit_code;
  const bool by_signal = code > 128 && code != exit_code_of_the_end;
  if (by_signal) return {};  // a person or a batch system ended it
  if (summary.failed_checks > 0 && !summary.rerun.empty())
    return fmt::format("rerun that {} alone: {} {} (launcher, ranks and --backend as before)",
                       summary.wrong_rows > 0 ? "row" : "size", run.program, summary.rerun);
  std::string text;
  if (summary.failure == how_process_0_ended) {
    text = advice_on_the_end;
  } else if (summary.failure.find("SIGKILL") != std::string::npos) {
    text = "SIGKILL comes from the kernel (out of memory: dmesg), a batch limit or kill -9";
  } else if (code == exit_code(Exit::timed_out)) {
    const bool on_hosts = std::ranges::adjacent_find(run.rank_lines, std::ranges::not_equal_to{},
                                                     &RankLine::host) != run.rank_lines.end();
    text = advice_on_a_wait(summary.errors, on_hosts, advice_on_links(run, summary));
  } else if (summary.verdict == Verdict::varies) {
    text = "-N 10 shows how often; an algorithm that is set by hand is not chosen by timing";
  } else if (summary.verdict == Verdict::slow) {
    text = run.options.sweep.cycles == 1 ? "-N 5 shows whether the times repeat" : "";
  } else if (!crowd(summary).empty()) {
    text = "stop the other programs (top shows them), and run again";
  } else if (has_undecided_time(summary, "--baseline")) {
    text =
        "a quieter machine, three earlier runs or more in one file (cat run-*.jsonl), or ccl_compare --base CMD --head CMD";
  } else if (!undecided(summary).empty()) {
    text = has_undecided_time(summary)
               ? "a quieter machine, or a limit farther from the time"
               : "measure the sizes and types that the limits and --baseline are of";
  } else if (hides_fault(summary)) {
    text =
        "a fault without :call=, :every= and :phase= is done to every call, and -c all verifies each";
  } else if (summary.wrong_wire) {
    text = "give the interface a subnet or a route of its own, or leave the choice out";
  } else if (summary.verdict == Verdict::unreliable && run.oversubscribed) {
    text = run.ranks > 2 ? "fewer ranks or more CPUs" : "more CPUs";
    if (run.backend.starts_with("gloo"))
      text += "; over MPI ranks have no second busy thread: --backend mpi";
  } else if (summary.verdict == Verdict::unreliable) {
    text = "a quieter machine (top shows what else runs), or --passes 5, which take longer";
  } else if (summary.verdict == Verdict::ok && run.options.check.calls == 0) {
    text = "without -c 0 results are checked";
  }
  if (!run.output_files.empty()) return text;
  const char* const keep = summary.complete
                               ? "-J run.jsonl keeps the run"
                               : "add -J run.jsonl and finished rows survive in the file, too";
  return text.empty() ? keep : text + "; " + keep;
}

}  // namespace

std::string failure_text(const RunSummary& summary) {
  return "# Test failure: " + harmless(summary.failure) + '\n';
}

std::string advice_on_a_wait(const std::vector<std::string>& errors, bool on_hosts,
                             const std::string& on_links) {
  const bool is_silent = std::any_of(errors.begin(), errors.end(), [](const std::string& error) {
    return error.find("no sign of life from") != std::string::npos ||
           error.find("does not come to") != std::string::npos;
  });
  if (is_silent)
    return std::string(on_hosts ? "ping that host: it is down, or a cable is out; if it answers, "
                                : "") +
           "a process that is stopped has state T (ps -o pid,stat): kill -CONT PID lets it go on";
  return (on_hosts ? on_links + "; " : "") +
         "if the operation is only slow, a larger -T waits longer";
}

std::string footer_text(const RunInfo& run, const RunSummary& summary) {
  std::string lines = summary.complete ? nccl_tests_lines(run, summary) : failure_text(summary);
  lines += "#\n";
  for (const auto& texts : {missed(summary), undecided(summary), summary.notes})
    for (const std::string& text : texts) lines += comment(text);
  lines += answer("Verdict", verdict(run, summary)) + answer("Correct", correct(run, summary));
  lines += answer("Reliable", reliable(run, summary));
  if (summary.soak) lines += answer("Soak", soak(summary));
  if (summary.reproduction) lines += answer("Bits", reproduction_text(summary));
  if (summary.late_rank) lines += answer("Late rank", late_rank(*summary.late_rank));
  if (run.pair_rows)
    lines += answer("Pairs", "ccl_acceptance tells which host's messages are slow");
  return lines + answer("Normal", normal_text(run, summary)) + answer("Next", next(run, summary));
}

}  // namespace ccl_tests
