#include "src/report/multi_reporter.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include "src/core/error.hpp"
#include "src/devices/core_to_core.hpp"
#include "src/judge/pair_judgement.hpp"
#include "src/judge/reproductions.hpp"
#include "src/record/quantity_text.hpp"
#include "src/record/row_text.hpp"
#include "src/report/headline.hpp"
#include "src/report/pair_notes.hpp"

namespace ccl_tests {
namespace {

constexpr std::size_t most_widest = 3;   // times that the footer names
constexpr std::size_t most_notes = 100;  // a run that is wrong everywhere says so often enough

void append(std::vector<std::string>& to, std::vector<std::string> lines) {
  for (std::string& line : lines) to.push_back(std::move(line));
}

// Rows of a group or a pair are not a sweep, CPU times are of issuing alone, and a run without end has no
// footer that could tell of a fit.
bool has_fits(const RunInfo& run) {
  return run.iterations > 0 && !run.group_rows && !run.pair_rows && run.clock == "wall" &&
         run.cycles > 0;
}

// The typical time tells nothing, or is of CPUs that the ranks did not have.
bool doubtful(const RunSummary& summary) {
  return summary.wide_times * 2 > summary.times || summary.stolen_times * 2 > summary.times;
}

// Returns whether the machine was the same before the first row and after the last one. before, after: seconds
// of core_to_core(). Empty: nothing to say.
std::string speed_text(std::optional<double> before, std::optional<double> after, bool verbose) {
  if (!before || !after) return {};
  const std::string text = fmt::format(
      "core to core: a round trip took {:.0f} ns before the first row and {:.0f} ns after the last",
      *before * 1e9, *after * 1e9);
  if (!same_state(before, after)) return "the machine changed its speed during the run; " + text;
  return verbose ? text : std::string();
}

// What came first, if process 0 knows that, and what this process did then.
std::string failure_line(int code, const std::vector<std::string>& errors,
                         const std::string& activity) {
  constexpr std::string_view marks_first = "first: ";
  std::string line = errors.empty() ? fmt::format("exit code {}", code) : errors.front();
  for (const std::string& error : errors) {
    if (error.starts_with(marks_first)) line = error.substr(marks_first.size());
  }
  if (!activity.empty() && line.find(activity) == std::string::npos) line += " during " + activity;
  return line;
}

}  // namespace

void MultiReporter::survive_kills() { outputs_.keep_last_words(if_killed()); }

void MultiReporter::begin(const RunInfo& run) {
  std::unique_lock lock(mutex_);
  if (finished_) return;
  begun_ = true;
  before_print_();
  run_ = run;
  fits_ = has_fits(run);
  limits_.begin(run);
  const RunSummary last = if_killed();
  lock.unlock();
  outputs_.begin(run, last);
}

void MultiReporter::row(const Row& row, std::size_t requested) {
  std::unique_lock lock(mutex_);
  if (finished_) return;
  std::exception_ptr undigested;
  Row complete = completed(row, undigested);
  limits_.mark(complete, requested);
  account(complete, requested);
  before_print_();
  const RunSummary last = if_killed();
  lock.unlock();
  outputs_.row(complete, last);
  if (undigested) std::rethrow_exception(undigested);
}

void MultiReporter::pass_row(const Row& row, std::size_t requested, RowPlace place) {
  std::unique_lock lock(mutex_);
  if (finished_) return;
  std::exception_ptr undigested;
  const Row complete = completed(row, undigested);
  std::optional<Row> all = passes_.add(complete, requested, place);
  if (all) {
    limits_.mark(*all, requested);
    account(*all, requested);
    before_print_();
  }
  const RunSummary last = if_killed();
  lock.unlock();
  std::exception_ptr unwritten;
  const auto write = [&](const Row& one) {
    try {
      outputs_.row(one, last);
    } catch (const Error&) {
      unwritten = std::current_exception();
    }
  };
  write(complete);
  if (all) write(*all);
  if (unwritten) std::rethrow_exception(unwritten);
  if (undigested) std::rethrow_exception(undigested);
}

void MultiReporter::account(const Row& row, std::size_t requested) {
  ++summary_.rows;
  for (const Measurement* cell : {&row.out_of_place, &row.in_place}) {
    if (cell->left_out) continue;
    ++busbw_cells_;
    busbw_sum_ += cell->busbw;
    if (cell->busbw > 0 && (!summary_.peak || cell->busbw > summary_.peak->busbw))
      summary_.peak = Peak{row.bytes, cell->busbw};
  }
  count_calls(row);
  if (row.out_of_place.failed_ranks + row.in_place.failed_ranks > 0) ++summary_.wrong_rows;
  add_wrong(row, requested, "out of place", row.out_of_place);
  add_wrong(row, requested, "in place", row.in_place);
  const auto capped = [&](const Measurement& cell) {
    return !cell.left_out && !cell.stream && cell.iterations < options_.measure.iterations;
  };
  if (capped(row.out_of_place) || capped(row.in_place)) ++capped_rows_;
  if (row.coverage < 1) {
    weakest_bytes_ = std::max(weakest_bytes_, row.bytes);
    weakest_coverage_ = std::min(weakest_coverage_, row.coverage);
  }
  add_times(row, requested);
  late_ranks_.add(row);
  add_reproduction(summary_.reproduction, row, requested);
  if (fits_) add_cells(cells_, row);
  limits_.add(row, requested);
  const bool kept = options_.sweep.cycles != 0 || row.cycle == 0;  // memory is to stay as it is
  if (row.pair && begun_ && kept) pair_rows_.push_back(row);
}

void MultiReporter::count_calls(const Row& row) {
  for (const Measurement* cell : {&row.out_of_place, &row.in_place}) {
    if (row.group.value_or(0) == 0) {  // rank 0's: one row of each group may follow another
      summary_.calls += cell->calls;
      summary_.verified_calls += cell->verified_calls;
    }
    summary_.failed_checks += cell->failed_ranks;
    summary_.wrong_elements += cell->wrong.value_or(0);
  }
}

void MultiReporter::first_call(const Row& row, std::size_t requested) {
  const std::lock_guard lock(mutex_);
  if (finished_) return;
  count_calls(row);
  add_wrong(row, requested, first_call_words, row.out_of_place);
}

// The run ended before the last pass.
void MultiReporter::account_rest() {
  for (const auto& [row, requested] : passes_.take_rest()) {
    account(row, requested);
    rest_.push_back(row);
  }
  if (rest_.empty()) return;
  add_note(fmt::format("{} of fewer than {} passes", counted(rest_.size(), "row"),
                       options_.sweep.passes));
}

// With what its neighbours and the header say of it. undigested: set if --digests cannot be written, which costs
// nobody the row.
Row MultiReporter::completed(const Row& row, std::exception_ptr& undigested) {
  Row complete = row;
  complete.hosts = hosts_of(row, run_.rank_lines);
  try {
    compare_digests(digests_, run_, complete);
  } catch (const Error&) {
    undigested = std::current_exception();
  }
  return complete;
}

void MultiReporter::add_times(const Row& row, std::size_t requested) {
  const auto add = [&](const char* placement, const Measurement& cell) {
    if (!cell.stream || !cell.has_own_time()) return;
    ++summary_.times;
    if (cell.stream->precision_reached) ++summary_.precise_times;
    if (cell.stream->stolen) ++summary_.stolen_times;
    const auto half_width = cell.stream->half_width(cell.seconds);
    add_width(half_width,
              binary_size_text(requested) + (&cell == &row.in_place ? " in place" : ""));
    if (!half_width || *half_width <= summary_.widest.value_or(0)) return;
    summary_.widest = half_width;
    summary_.widest_row = row_place(row, requested, placement);
  };
  add("out of place", row.out_of_place);
  add("in place", row.in_place);
}

// place: the time's.
void MultiReporter::add_width(std::optional<double> half_width, std::string place) {
  widths_.add(half_width);
  summary_.usual_width = widths_.most_within();
  summary_.unusual_times = widths_.others();
  summary_.wide_times = widths_.wider();
  if (!half_width) ++summary_.unbounded_times;
  const double width = half_width.value_or(std::numeric_limits<double>::infinity());
  std::vector<WideTime>& widest = summary_.widest_times;
  const auto after = std::find_if(widest.begin(), widest.end(),
                                  [&](const WideTime& one) { return one.half_width < width; });
  widest.insert(after, {width, std::move(place)});
  if (widest.size() > most_widest) widest.pop_back();
}

void MultiReporter::add_wrong(const Row& row, std::size_t requested, std::string_view placement,
                              const Measurement& cell) {
  for (const Mismatch& mismatch : cell.mismatches) {
    const std::string where = row_place(row, requested, placement);
    add_note(wrong_line(mismatch, where));
    if (!summary_.first_wrong.empty()) continue;
    summary_.first_wrong = first_wrong_text(mismatch, where);
    summary_.rerun = rerun_flags(row, requested, options_.check);
  }
}

void MultiReporter::add_note(std::string line) {
  if (summary_.notes.size() < most_notes) summary_.notes.push_back(std::move(line));
}

void MultiReporter::note(const std::string& line) {
  const std::lock_guard lock(mutex_);
  add_note(line);
}

void MultiReporter::memory(const std::string& line) {
  const std::lock_guard lock(mutex_);
  summary_.memory = line;
}

void MultiReporter::core_to_core(std::optional<double> seconds) {
  const std::lock_guard lock(mutex_);
  summary_.core_to_core = seconds;
}

void MultiReporter::repeats(const std::optional<Repeatability>& found) {
  const std::lock_guard lock(mutex_);
  summary_.repeats = found;
}

void MultiReporter::soak(const std::optional<Soak>& found) {
  const std::lock_guard lock(mutex_);
  summary_.soak = found;
}

CallCounts MultiReporter::counts() const {
  const std::lock_guard lock(mutex_);
  return {summary_.calls, summary_.verified_calls, summary_.failed_checks};
}

void MultiReporter::judge_end() {
  if (!begun_ || std::exchange(judged_, true)) return;
  summary_.average_busbw = average_busbw();
  std::vector<std::string>& notes = summary_.notes;
  const SweepOptions& sweep = options_.sweep;
  if (options_.spec.window > 1)
    append(notes, message_rates(pair_rows_, sweep.concurrent && !sweep.pairing.all));
  std::vector<std::string> hosts;
  for (const RankLine& line : run_.rank_lines) hosts.push_back(line.host);
  append(notes, pair_matrices(pair_rows_, outputs_.files()));
  summary_.pairs = judge_pairs(pair_rows_, hosts);
  summary_.late_rank = late_ranks_.found();
  for (const RankLine& line : run_.rank_lines)
    if (summary_.late_rank && line.rank == summary_.late_rank->rank)
      summary_.late_rank->host = line.host;
  summary_.limits = limits_.judge({.complete = summary_.complete,
                                   .repeats = summary_.repeats,
                                   .average_busbw = summary_.average_busbw,
                                   .core_to_core = {run_.core_to_core, summary_.core_to_core}});
  for (const LimitFinding& found : summary_.limits)
    if (found.flag == average_limit) summary_.bandwidth_ok = found.verdict == LimitVerdict::kept;
  if (const auto line = speed_text(run_.core_to_core, summary_.core_to_core, run_.verbose);
      !line.empty())
    notes.push_back(line);
  if (capped_rows_ > 0)
    notes.push_back(fmt::format(
        "{} ran fewer than {} iterations, to keep a row's timed part within {} s (--row-time)",
        counted(capped_rows_, "row"), options_.measure.iterations, options_.measure.row_time_s));
  if (weakest_bytes_ > 0)
    notes.push_back(
        fmt::format("rows up to {} B are too short to show the loss of every rank's contribution; "
                    "the weakest covers {:.1f} % of the ranks",
                    weakest_bytes_, 100 * weakest_coverage_));
}

void MultiReporter::conclude(int failure, const std::vector<std::string>& errors) {
  summary_.complete = failure == 0;
  summary_.errors = errors;
  if (failure != 0) summary_.failure = failure_line(failure, errors, activity_());
  judge_end();
  int code = most_severe(failure, judged());
  if (failure > 128) code = failure;  // interrupted: a verdict was not reached
  summary_.exit_code = code;
  summary_.verdict = failure != 0                           ? Verdict::incomplete
                     : summary_.failed_checks > 0           ? Verdict::wrong
                     : varies()                             ? Verdict::varies
                     : has(LimitVerdict::missed)            ? Verdict::slow
                     : is_undecided() || doubtful(summary_) ? Verdict::unreliable
                                                            : Verdict::ok;
  if (summary_.reproduction) summary_.reproduction->digests = digests_.path();
  if (summary_.complete) summary_.fits = sweep_fits(cells_);
  summary_.end_time = local_time();
}

double MultiReporter::average_busbw() const {
  return busbw_cells_ > 0 ? busbw_sum_ / static_cast<double>(busbw_cells_) : 0;
}

// Of a process that is killed before the next row, and says nothing more itself.
RunSummary MultiReporter::if_killed() const {
  RunSummary summary = summary_;
  summary.complete = false;
  summary.verdict = Verdict::incomplete;
  summary.exit_code = most_severe(exit_code(Exit::failed), judged());
  summary.failure = how_process_0_ended;
  summary.errors = {summary.failure};
  summary.average_busbw = average_busbw();
  summary.end_time = local_time();
  return summary;
}

int MultiReporter::judged() const {
  const int slow = has(LimitVerdict::missed) ? exit_code(Exit::too_slow)
                   : is_undecided()          ? exit_code(Exit::inconclusive)
                                             : 0;
  const bool wrong = summary_.failed_checks > 0 || varies();
  return wrong ? most_severe(slow, exit_code(Exit::wrong_data)) : slow;
}

std::vector<std::string> MultiReporter::unwritten() const {
  std::vector<std::string> lines = undigested_;
  append(lines, outputs_.unwritten());
  return lines;
}

int MultiReporter::verdict() {
  const std::lock_guard lock(mutex_);
  judge_end();
  return judged();
}

int MultiReporter::finish(int failure, const std::vector<std::string>& errors) {
  const std::lock_guard lock(mutex_);
  if (finished_) return summary_.exit_code;
  finished_ = true;
  account_rest();
  try {
    if (failure == 0) digests_.check();
  } catch (const Error& e) {
    undigested_.emplace_back(e.what());
  }
  if (undigested_.empty())
    conclude(failure, errors);
  else
    conclude(exit_code(Exit::failed), undigested_);
  before_print_();
  outputs_.end(rest_, summary_);
  return summary_.exit_code;
}

}  // namespace ccl_tests
