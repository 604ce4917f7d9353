#include "src/report/table_header.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/report/reporter.hpp"
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

// What was asked for beside the settings.
std::string modes(const RunInfo& run) {
  const Options& o = run.options;
  std::string lines;
  if (!o.sweep.sizes.empty()) lines += fmt::format("# Sizes: {}\n", fmt::join(o.sweep.sizes, " "));
  if (o.measure.blocking == 1) {
    lines += "# Blocking Enabled: wait and barrier after each inner iteration (-m)\n";
  } else if (o.measure.blocking == 2) {
    lines += "# Blocking Enabled: wait after each inner iteration (-m), no barrier\n";
  } else if (o.measure.blocking == 3) {
    lines += "# Blocking Enabled: wait and barrier after each outer iteration (-n); time excludes ";
    lines += "barrier\n";
  }
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
  const std::string cpus = run.cpus_allowed.empty() ? "" : ", CPUs " + run.cpus_allowed;
  return comment(fmt::format("Ranks: {}{} ({})", run.placement, cpus, how));
}

std::string with_remedy(const Note& note) {
  return note.remedy.empty() ? note.text : fmt::format("{}; {}", note.text, note.remedy);
}

// The first warning; the others are counted.
std::string warning(const RunInfo& run) {
  const Note* first = nullptr;
  int others = 0;
  for (const Note& note : run.notes) {
    if (note.kind != NoteKind::warning) continue;
    if (first != nullptr) ++others;
    if (first == nullptr) first = &note;
  }
  if (first == nullptr) return "#\n";
  std::string text = "WARNING: " + with_remedy(*first);
  if (others > 0 && !run.options.output.verbose)
    text += fmt::format(" (and {} more: --verbose)", others);
  return comment(harmless(text));
}

std::string rank_line(const RankLine& line) {
  return fmt::format("#  Rank {:2} Group {:2} Pid {:6} on {:>10} device {:2} [{}] {}\n", line.rank,
                     line.group, line.pid, harmless(line.host), line.device,
                     line.bus_id.empty() ? "cpu" : harmless(line.bus_id),
                     harmless(line.device_name));
}

// Of many ranks only the first and the last are shown: the list would hide the rows.
std::string devices(const RunInfo& run) {
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

}  // namespace

std::string header_text(const RunInfo& run) {
  std::string lines =
      fmt::format("# ccl-tests version {} backend={} library={} file={}{}{}\n", word(run.version),
                  word(run.backend), word(run.library_version),
                  run.library_file.empty() ? "built-in" : word(run.library_file),
                  run.library_known_as.empty() ? "" : " ", harmless(run.library_known_as));
  lines += fmt::format("# Collective test starting: {}\n", harmless(run.program));
  lines += settings(run) + modes(run) + ranks(run) + warning(run) + devices(run);
  if (run.reduced_max)
    lines +=
        fmt::format("#\n# Reducing maxBytes to {} due to memory limitation\n", *run.reduced_max);
  return lines + notes(run);
}

}  // namespace ccl_tests
