// nccl-tests' table. What its parsers rely on: rows start with a digit and have 13 tokens (15 with
// -S; groups and pairs stand behind them), numbers have no sign, no exponent and are finite,
// everything else starts with '#', the
// `#  Rank` lines, and the two footer lines. Where this differs: times that are too wide for their
// column widen it instead of turning to exponents, and N/A stands under its column's header.
#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <string_view>
#include <system_error>

#include "src/core/error.hpp"
#include "src/report/reporter.hpp"
#include "src/report/text.hpp"

namespace ccl_tests {
namespace {

// One comment line for each line of text.
std::string comment(std::string_view text) {
  std::string lines;
  while (true) {
    const std::size_t end = text.find('\n');
    const std::string line = single_line(text.substr(0, end));
    lines += line.empty() ? "#\n" : fmt::format("# {}\n", line);
    if (end == std::string_view::npos || end + 1 == text.size()) return lines;
    text.remove_prefix(end + 1);
  }
}

std::string comments(const std::vector<std::string>& texts, std::string_view prefix = {}) {
  std::string lines;
  for (const std::string& text : texts) lines += comment(fmt::format("{}{}", prefix, text));
  return lines;
}

// A value of key=value: quoted when it is more than one word.
std::string word(std::string_view text) {
  const std::string line = single_line(text);
  return line.find(' ') == std::string::npos ? line : fmt::format("\"{}\"", line);
}

double printable(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

// As many decimals, at most two, as fit into the column; a wider column when none does.
std::string number(double value, std::size_t width) {
  for (const int decimals : {2, 1}) {
    const std::string text = fmt::format("{:.{}f}", printable(value), decimals);
    if (text.size() <= width) return fmt::format("{:>{}}", text, width);
  }
  return fmt::format("{:>{}.0f}", printable(value), width);
}

// printf's %g, but never with an exponent.
std::string general(double value) {
  value = printable(value);
  if (value >= 999999.5) return fmt::format("{:.0f}", value);
  if (value >= 1e-4 || value == 0) return fmt::format("{:g}", value);
  std::string text = fmt::format("{:.10f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string half(const Measurement& cell) {
  const std::string wrong = cell.wrong ? fmt::format("{}", *cell.wrong) : "N/A";
  std::string text = fmt::format("  {}  {}  {}  {:>6}", number(cell.seconds * 1e6, 7),
                                 number(cell.algbw, 6), number(cell.busbw, 6), wrong);
  if (!cell.per_iteration) return text;
  const Statistics& of = cell.per_iteration->of;
  for (const double value :
       {of.min * 1e6, of.max * 1e6, of.p99 * 1e6, of.mean > 0 ? of.stdev / of.mean * 100 : 0})
    text += "  " + number(value, 7);
  return text;
}

std::string shares(const StepTimes& steps) {
  const double percent = steps.total_s() > 0 ? 100 / steps.total_s() : 0;
  return fmt::format("sizes {:.1f} %, payload {:.1f} %, packing {:.1f} %", steps.sizes_s * percent,
                     steps.payload_s * percent, steps.packing_s * percent);
}

// Behind the row of a composite: what its time went into.
std::string steps(const Row& row) {
  if (!row.out_of_place.steps) return {};
  std::string line = "#   steps: " + shares(*row.out_of_place.steps);
  if (row.in_place.steps && !row.in_place.repeats_out_of_place)
    line += "; in place: " + shares(*row.in_place.steps);
  if (row.padding_waste)
    line += fmt::format("; with padding {:.3f} B are sent for 1 B", *row.padding_waste);
  return line + "\n";
}

std::string settings(const RunInfo& run) {
  const bool factor = run.step_factor > 1;
  return fmt::format(
      "# nThread {} nGpus {} minBytes {} maxBytes {} step: {}({}) warmup iters: {} iters: {} "
      "agg iters: {} validation: {} graph: {} unalign: {}\n",
      run.threads, run.ranks_per_thread, run.min_bytes, run.max_bytes,
      factor ? static_cast<std::size_t>(run.step_factor) : run.step_bytes,
      factor ? "factor" : "bytes", run.warmup, run.iterations, run.aggregate, run.check,
      run.graph_launches, run.unalign);
}

std::string modes(const RunInfo& run) {
  std::string lines;
  if (!run.sizes.empty()) lines += fmt::format("# Sizes: {}\n", fmt::join(run.sizes, " "));
  if (run.blocking == 1) {
    lines += "# Blocking Enabled: wait and barrier after each inner iteration (-m)\n";
  } else if (run.blocking == 2) {
    lines += "# Blocking Enabled: wait after each inner iteration (-m), no barrier\n";
  } else if (run.blocking == 3) {
    lines += "# Blocking Enabled: wait and barrier after each outer iteration (-n); time excludes ";
    lines += "barrier\n";
  }
  if (run.per_iteration) {
    lines += "# Per-Iteration Report: i_* are of single iterations, over ranks the slowest's";
    if (run.per_iteration_skip > 0)
      lines += fmt::format("; statistics skip the first {} iterations", run.per_iteration_skip);
    lines += '\n';
  }
  if (run.parallel_init) lines += "# Parallel Init Enabled: threads connect concurrently\n";
  return lines;
}

// Of many ranks only the first and the last are shown: the list would hide the rows.
std::string devices(const RunInfo& run) {
  constexpr std::size_t most_shown = 64, first_shown = 16;
  const std::size_t ranks = run.rank_lines.size();
  std::string lines = "# Using devices\n";
  for (const RankLine& line : run.rank_lines) {
    const auto rank = static_cast<std::size_t>(line.rank);
    if (ranks > most_shown && rank >= first_shown && rank + 1 < ranks) {
      if (rank == first_shown)
        lines += fmt::format("#  ... {} more ranks, which -J writes to its file\n",
                             ranks - first_shown - 1);
      continue;
    }
    lines += fmt::format("#  Rank {:2} Group {:2} Pid {:6} on {:>10} device {:2} [{}] {}\n",
                         line.rank, line.group, line.pid, single_line(line.host), line.device,
                         line.bus_id.empty() ? "cpu" : single_line(line.bus_id),
                         single_line(line.device_name));
  }
  return lines;
}

// The first `#   size` column is two narrower than a row's, as the '#' takes its place.
std::string column_line(std::string_view size, std::string_view count, std::string_view type,
                        std::string_view op, std::string_view root, std::string_view half_line,
                        std::string_view last) {
  return fmt::format("# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}{}{} {}\n", size, count, type, op, root,
                     half_line, half_line, last);
}

std::string columns(const RunInfo& run) {
  const std::string names =
      fmt::format("  {:>7}   algbw   busbw  #wrong{}", run.cpu_time ? "cputime" : "time",
                  run.per_iteration ? "    i_min    i_max    i_p99   i_cv%" : "");
  const std::string units =
      fmt::format("     (us)  (GB/s)  (GB/s)        {}",
                  run.per_iteration ? "     (us)     (us)     (us)      (%)" : "");
  const auto last = [&](const char* timestamp, const char* group, const char* pair) {
    return fmt::format("{}{}{}", run.timestamps ? timestamp : "", run.group_rows ? group : "",
                       run.pair_rows ? pair : "");
  };
  return fmt::format("# {:>50}           out-of-place                       in-place          \n",
                     "") +
         column_line("size", "count", "type", "redop", "root", names,
                     last("          timestamp", "  group", "       pair")) +
         column_line("(B)", "(elements)", "", "", "", units, last("  %Y-%m-%d %H:%M:%S", "", ""));
}

class Table : public Reporter {
 public:
  explicit Table(std::FILE* out) : out_(out) {}

  void begin(const RunInfo& run) override {
    program_ = single_line(run.program);
    timestamps_ = run.timestamps;
    pairs_ = run.pair_rows;
    write(fmt::format("# ccl-tests version {} backend={} library={} file={}\n", word(run.version),
                      word(run.backend), word(run.library_version),
                      run.library_file.empty() ? "built-in" : word(run.library_file)));
    write(fmt::format("# Collective test starting: {}\n", program_));
    write(settings(run) + modes(run));
    write(fmt::format("# Launcher: {} processes: {} ranks: {} cpus allowed: {} seed: {}\n",
                      single_line(run.launcher), run.processes, run.ranks,
                      single_line(run.cpus_allowed), run.seed));
    write(comments(run.notes) + "#\n" + devices(run));
    if (run.reduced_max) {
      write(
          fmt::format("#\n# Reducing maxBytes to {} due to memory limitation\n", *run.reduced_max));
    }
    write("#\n" + columns(run));
  }

  void row(const Row& row) override {
    std::string line = fmt::format("{:12}  {:12}  {:>8}  {:>6}  {:>6}", row.bytes, row.count,
                                   row.type, row.op.empty() ? "none" : row.op, row.root);
    line += half(row.out_of_place) + half(row.in_place);
    if (timestamps_) line += fmt::format("  {:>19}", row.timestamp);
    if (row.group) line += fmt::format("  {:>5}", *row.group);
    if (pairs_ && row.pair) line += fmt::format("  {:>9}", name(*row.pair));
    if (!row.algorithm.empty()) line += "\n#   algorithm: " + single_line(row.algorithm);
    write(line + "\n" + steps(row));
  }

  void end(const RunSummary& summary) override {
    if (!summary.complete) {
      write(fmt::format("# Interrupted: the run ended before its last row (exit code {})\n",
                        summary.exit_code));
    }
    const bool nothing = !summary.complete && summary.verified_calls == 0;
    write(fmt::format("# {:<20} : {} {}\n", "Out of bounds values", summary.failed_checks,
                      summary.failed_checks > 0 ? "FAILED"
                      : nothing                 ? "NOTHING CHECKED"
                                                : "OK"));
    const std::string_view verdict =
        !summary.bandwidth_ok ? "" : (*summary.bandwidth_ok ? "OK" : "FAILED");
    write(fmt::format("# {:<20} : {} {}\n", "Avg bus bandwidth", general(summary.average_busbw),
                      verdict));
    write(fmt::format("#\n# Collective test concluded: {}\n", program_));
    if (!summary.memory.empty()) write("# " + single_line(summary.memory) + '\n');
    write("#\n");
    write(fmt::format("# Verified {} of {} calls\n", summary.verified_calls, summary.calls));
    write(comments(summary.notes) + comments(summary.errors, "error: "));
  }

 private:
  void write(const std::string& lines) {
    if (std::fputs(lines.c_str(), out_) >= 0 && std::fflush(out_) == 0) return;
    throw Error(fmt::format("cannot write the table: {}", std::generic_category().message(errno)));
  }

  std::FILE* out_;
  std::string program_;
  bool timestamps_ = false, pairs_ = false;
};

}  // namespace

std::unique_ptr<Reporter> table_reporter(std::FILE* out) { return std::make_unique<Table>(out); }

}  // namespace ccl_tests
