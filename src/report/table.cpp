// nccl-tests' table. What its parsers rely on: rows start with a digit and have 13 tokens (15 with
// -S), numbers have no sign, no exponent and are finite, everything else starts with '#', the
// `#  Rank` lines, and the footer lines. Where this differs: times that are too wide for their
// column widen it instead of turning to exponents, and N/A stands under its column's header: for a number of
// wrong elements that nobody counted, and all numbers of a placement that was left out (-O).
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <cmath>
#include <string_view>
#include <system_error>

#include "src/core/error.hpp"
#include "src/record/quantity_text.hpp"
#include "src/record/reproductions.hpp"
#include "src/report/explanations.hpp"
#include "src/report/exports/document.hpp"
#include "src/report/reporter.hpp"
#include "src/report/table_footer.hpp"
#include "src/report/text.hpp"

namespace ccl_tests {
namespace {

// A value of key=value: quoted when it is more than one word.
std::string word(std::string_view text) {
  const std::string line = harmless(text);
  return line.find(' ') == std::string::npos ? line : fmt::format("\"{}\"", line);
}

std::string settings(const RunInfo& run) {
  const Options& o = run.options;
  const bool factor = o.sweep.step_factor > 1;
  return fmt::format(
      "# nThread {} nGpus {} minBytes {} maxBytes {} step: {}({}) warmup iters: {} iters: {} "
      "agg iters: {} validation: {} graph: {} unalign: {}{}\n",
      run.threads, run.ranks_per_thread, run.min_bytes, run.max_bytes,
      factor ? static_cast<std::size_t>(o.sweep.step_factor) : o.sweep.step_bytes,
      factor ? "factor" : "bytes", o.measure.warmup, o.measure.iterations, o.measure.aggregate,
      o.check.calls, o.measure.graph_launches, o.sweep.unalign,
      run.precision ? fmt::format(" (without -n rows run until +-{:g} %)", *run.precision * 100)
                    : "");
}

// Returns lines about what was asked for beside the settings.
std::string modes(const RunInfo& run) {
  const Options& o = run.options;
  std::string lines;
  if (!o.sweep.sizes.empty()) lines += fmt::format("# Sizes: {}\n", fmt::join(o.sweep.sizes, " "));
  constexpr std::string_view blocking[] = {
      "", "wait and barrier after each inner iteration (-m)",
      "wait after each inner iteration (-m), no barrier",
      "wait and barrier after each outer iteration (-n); time excludes barrier"};
  if (o.measure.blocking > 0)
    lines += fmt::format("# Blocking Enabled: {}\n",
                         blocking[static_cast<std::size_t>(o.measure.blocking)]);
  if (o.measure.per_iteration) {
    lines += "# Per-Iteration Report: i_* are of single iterations, over ranks the slowest's";
    if (o.measure.per_iteration_skip > 0)
      lines += fmt::format("; statistics skip the first {}",
                           o.measure.per_iteration_skip == 1
                               ? "iteration"
                               : fmt::format("{} iterations", o.measure.per_iteration_skip));
    lines += '\n';
  }
  if (o.job.parallel_init) lines += "# Parallel Init Enabled: threads connect concurrently\n";
  for (const std::string& path : run.output_files)
    lines += comment(fmt::format("Writing {} output to {}", file_format(path), path));
  return lines;
}

std::string ranks(const RunInfo& run) {
  const std::string how = run.launcher == "none" ? "no launcher; -t, --np or a launcher changes it"
                                                 : "launcher: " + run.launcher;
  constexpr std::string_view by_rank = "CPUs: ";
  std::string cpus = run.cpus_allowed.empty() ? "" : ", CPUs " + run.cpus_allowed;
  for (const std::string& line : run.rank_differences)
    if (line.starts_with(by_rank)) cpus = ", CPUs of " + line.substr(by_rank.size());
  return comment(fmt::format("Ranks: {}{} ({})", run.placement, cpus, how));
}

// The first warning; the others are counted.
std::string warning(const RunInfo& run) {
  const std::vector<std::string> all = warnings(run);
  if (all.empty()) return "#\n";
  std::string text = "WARNING: " + all.front();
  if (all.size() > 1 && !run.options.output.verbose)
    text += fmt::format(" (and {} more: --verbose)", all.size() - 1);
  return comment(harmless(text));
}

std::string rank_line(const RankLine& line) {
  return fmt::format("#  Rank {:2} Group {:2} Pid {:6} on {:>10} device {:2} [{}] {}\n", line.rank,
                     line.group, line.pid, harmless(line.host), line.device,
                     line.bus_id.empty() ? "cpu" : harmless(line.bus_id),
                     harmless(line.device_name));
}

// Shows only the first and the last of many ranks: the list would hide the rows.
std::string device_lines(const RunInfo& run) {
  constexpr std::size_t most_lines = 16;
  const std::size_t ranks = run.rank_lines.size();
  const std::size_t first_shown = ranks > most_lines ? most_lines - 2 : ranks;
  std::string lines = "# Using devices\n";
  for (std::size_t r = 0; r < first_shown; ++r) lines += rank_line(run.rank_lines[r]);
  if (first_shown == ranks) return lines;
  lines +=
      fmt::format("#  ... {} more ranks, which -J writes to its file\n", ranks - first_shown - 1);
  return lines + rank_line(run.rank_lines.back());
}

// Notes on one line, which is empty without them.
std::string notes(const RunInfo& run) {
  std::string line;
  std::string below;
  for (const Note& note : run.notes) {
    if (note.kind == NoteKind::note) line += (line.empty() ? "" : "; ") + harmless(note.text);
    if (note.kind == NoteKind::listing ||
        (note.kind == NoteKind::verbose && run.options.output.verbose))
      below += comment(note.text);
    if (note.kind == NoteKind::warning && run.options.output.verbose)
      below += comment(with_remedy(note));
  }
  return comment(line) + below;
}

// Returns the comment lines: nine for two ranks on CPUs, if nothing is asked for that nccl-tests
// prints a line about. At most 16 lines are about ranks.
std::string header_text(const RunInfo& run) {
  std::string lines =
      fmt::format("# ccl-tests version {} backend={} library={} file={}{}{}\n", word(run.version),
                  word(run.backend), word(run.library_version),
                  run.library_file.empty() ? "built-in" : word(run.library_file),
                  run.library_known_as.empty() ? "" : " ", harmless(run.library_known_as));
  lines += fmt::format("# Collective test starting: {}\n", harmless(run.program));
  lines += settings(run) + modes(run) + ranks(run) + warning(run) + device_lines(run);
  if (run.reduced_max)
    lines +=
        fmt::format("#\n# Reducing maxBytes to {} due to memory limitation\n", *run.reduced_max);
  return lines + notes(run);
}

double printable(double value) { return std::isfinite(value) && value > 0 ? value : 0; }

// Returns as many decimals, at most two, as fit into the column; a wider column if none does.
std::string number(double value, std::size_t width) {
  for (const int decimals : {2, 1}) {
    const std::string text = fmt::format("{:.{}f}", printable(value), decimals);
    if (text.size() <= width) return fmt::format("{:>{}}", text, width);
  }
  return fmt::format("{:>{}.0f}", printable(value), width);
}

// Returns the letters of a time's flags, which explanations() has.
std::string marks(const StreamTimes& stream) {
  std::string text = stream.precision_reached ? "=" : "~";
  for (const std::string& flag : stream.flags)
    for (const Explanation& e : explanations())
      if (e.word == flag) text += e.name;
  return text;
}

std::string percent(const std::optional<double>& share) {
  return share ? number(100 * *share, 5) : "    -";
}

std::string stats(const Measurement& cell, bool samples) {
  std::string text = "      -        -";
  std::string count = "-";
  if (cell.stream) {
    text = "  " + percent(cell.stream->half_width(cell.seconds)) + "  " +
           number(cell.stream->fast * 1e6, 7);
    count = fmt::format("{}", cell.stream->stamps);
  }
  if (samples) text += "  " + percent(cell.samples ? cell.samples->skew_share : std::nullopt);
  return fmt::format("{}  {:>{}}  {:>5}", text, count, samples ? 7 : 6,
                     cell.stream ? marks(*cell.stream) : "-");
}

std::string numbers(const Measurement& cell) {
  if (cell.left_out) return fmt::format("  {0:>7}  {0:>6}  {0:>6}  {0:>6}", "N/A");
  const std::string wrong = cell.wrong ? fmt::format("{}", *cell.wrong) : "N/A";
  return fmt::format("  {}  {}  {}  {:>6}", number(cell.seconds * 1e6, 7), number(cell.algbw, 6),
                     number(cell.busbw, 6), wrong);
}

std::string half(const Measurement& cell, const RunInfo& run) {
  const Options& o = run.options;
  std::string text = numbers(cell);
  if (o.output.stats) text += stats(cell, o.measure.samples);
  if (o.output.stats && run.ceiling) text += "  " + percent(cell.efficiency);
  if (cell.left_out && o.measure.per_iteration)
    return text + fmt::format("  {0:>7}  {0:>7}  {0:>7}  {0:>7}", "N/A");
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

// Returns the line below the row of a composite: what its time went into.
std::string steps(const Row& row) {
  const std::optional<StepTimes>& first = row.first_measured().steps;
  if (!first) return {};
  std::string line = "#   steps: " + shares(*first);
  if (!row.out_of_place.left_out && row.in_place.steps && row.in_place.has_own_time())
    line += "; in place: " + shares(*row.in_place.steps);
  if (row.padding_waste)
    line += fmt::format("; with padding {:.3f} B are sent for 1 B", *row.padding_waste);
  if (row.expert_load && row.rank_load)
    line += fmt::format("; busiest expert {:.2f}, busiest rank {:.2f} times the mean",
                        *row.expert_load, *row.rank_load);
  return line + "\n";
}

std::string ratio_text(const Ratio& ratio) {
  if (!ratio.low || !ratio.high) return fmt::format("{:.2f} (no interval)", ratio.value);
  return fmt::format("{:.2f} ({:.2f} to {:.2f})", ratio.value, *ratio.low, *ratio.high);
}

// Returns the line of --beside.
std::string beside_line(const BesideFinding& found) {
  if (found.rounds == 0)
    return fmt::format("beside: no ratio: alone, the operation or the {} load did nothing",
                       found.load);
  return fmt::format(
      "beside: with the {} load the operation takes {} times as long; the load does {} of its work",
      found.load, ratio_text(found.time), ratio_text(found.work));
}

// The first `#   size` column is two narrower than a row's, as the '#' takes its place.
std::string column_line(std::string_view size, std::string_view count, std::string_view type,
                        std::string_view op, std::string_view root, std::string_view half_line,
                        std::string_view last) {
  return fmt::format("# {:>10}  {:>12}  {:>8}  {:>6}  {:>6}{}{} {}\n", size, count, type, op, root,
                     half_line, half_line, last);
}

std::string columns(const RunInfo& run) {
  const Options& o = run.options;
  const bool with_efficiency = o.output.stats && run.ceiling;
  const std::string names =
      fmt::format("  {:>7}   algbw   busbw  #wrong{}{}{}", run.clock == "cpu" ? "cputime" : "time",
                  !o.output.stats     ? ""
                  : o.measure.samples ? "    +-%     fast  skew%  samples  flags"
                                      : "    +-%     fast  stamps  flags",
                  with_efficiency ? "   eff%" : "",
                  o.measure.per_iteration ? "    i_min    i_max    i_p99   i_cv%" : "");
  const std::string units =
      fmt::format("     (us)  (GB/s)  (GB/s)        {}{}{}",
                  !o.output.stats     ? ""
                  : o.measure.samples ? "            (us)                       "
                                      : "            (us)               ",
                  with_efficiency ? "       " : "",
                  o.measure.per_iteration ? "     (us)     (us)     (us)      (%)" : "");
  return fmt::format("# {:>50}           out-of-place                       in-place          \n",
                     "") +
         column_line("size", "count", "type", "redop", "root", names,
                     o.output.timestamps ? "          timestamp" : "") +
         column_line("(B)", "(elements)", "", "", "", units,
                     o.output.timestamps ? "  %Y-%m-%d %H:%M:%S" : "");
}

class Table : public Reporter {
 public:
  explicit Table(std::FILE* out) : out_(out) {}

  void begin(const RunInfo& run) override {
    run_ = run;
    begun_ = true;
    write(header_text(run) + columns(run));
  }

  void row(const Row& row) override {
    if (row.pass) return;
    std::string line =
        fmt::format("{:12}  {:12}  {:>8}  {:>6}  {:>6}", row.bytes, row.count, name(row.type),
                    row.op ? name(*row.op) : "none", row.root.value_or(-1));
    line += half(row.out_of_place, run_) + half(row.in_place, run_);
    if (run_.options.output.timestamps)
      line += fmt::format("  {:>19}", seconds_form(row.timestamp));
    if (row.group) line += fmt::format("\n#   group: {}", *row.group);
    if (run_.pair_rows && row.pair) line += "\n#   pair: " + name(*row.pair);
    if (!row.algorithm.empty()) line += "\n#   algorithm: " + harmless(row.algorithm);
    if (!row.observed.empty()) line += "\n#   observed: " + harmless(row.observed);
    if (row.reproduction) line += "\n#   reproducible: " + harmless(reproduction_text(row));
    if (row.beside) line += "\n#   " + beside_line(*row.beside);
    write(line + "\n" + steps(row));
  }

  void end(const RunSummary& summary) override { write(end_lines(summary)); }

  std::string end_lines(const RunSummary& summary) const override {
    if (begun_) return footer_text(run_, summary);
    return summary.complete || summary.exit_code == exit_code(Exit::usage) ? ""
                                                                           : failure_text(summary);
  }

 private:
  void write(const std::string& lines) {
    if (std::fputs(lines.c_str(), out_) >= 0 && std::fflush(out_) == 0) return;
    throw Error(fmt::format("cannot write the table: {}", std::generic_category().message(errno)));
  }

  std::FILE* out_;
  RunInfo run_;
  bool begun_ = false;
};

}  // namespace

std::unique_ptr<Reporter> table_reporter(std::FILE* out) { return std::make_unique<Table>(out); }

}  // namespace ccl_tests
