#include "src/judge/run_judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <utility>

#include "src/core/error.hpp"
#include "src/devices/core_to_core.hpp"
#include "src/judge/pair_rows.hpp"
#include "src/record/quantity_text.hpp"
#include "src/record/reproductions.hpp"
#include "src/record/row_text.hpp"

namespace ccl_tests {
namespace {

constexpr std::size_t most_widest = 3;   // times that the footer names
constexpr std::size_t most_notes = 100;  // a run that is wrong everywhere says so often enough

void append(std::vector<std::string>& to, std::vector<std::string> lines) {
  std::move(lines.begin(), lines.end(), std::back_inserter(to));
}

void add_note(RunSummary& summary, std::string line) {
  if (summary.notes.size() < most_notes) summary.notes.push_back(std::move(line));
}

// Rows of a group or a pair are not a sweep, CPU times are of issuing alone, and a run without end
// has no footer that could tell of a fit.
bool has_fits(const RunInfo& run) {
  const SweepOptions& sweep = run.options.sweep;
  return run.options.measure.iterations > 0 && !sweep.group_rows && !run.pair_rows &&
         run.clock == "wall" && sweep.cycles > 0;
}

bool has(const RunSummary& summary, LimitVerdict verdict) {  // of any limit
  return !limit_lines(summary.limits, verdict).empty();
}

bool is_undecided(const RunSummary& summary) {
  return has(summary, LimitVerdict::undecided) || hides_fault(summary) || summary.wrong_wire;
}

Verdict verdict_of(const RunSummary& summary) {
  if (!summary.complete) return Verdict::incomplete;
  if (summary.failed_checks > 0) return Verdict::wrong;
  if (varies(summary)) return Verdict::varies;
  if (has(summary, LimitVerdict::missed)) return Verdict::slow;
  if (is_undecided(summary) || is_doubtful(summary)) return Verdict::unreliable;
  return Verdict::ok;
}

// Returns whether the machine was the same before the first row and after the last one. before,
// after: seconds of core_to_core(). Empty: nothing to say.
std::string speed_text(std::optional<double> before, std::optional<double> after, bool verbose) {
  if (!before || !after) return {};
  const std::string text = fmt::format(
      "core to core: a round trip took {:.0f} ns before the first row and {:.0f} ns after the last",
      *before * 1e9, *after * 1e9);
  if (!same_state(before, after)) return "the machine changed its speed during the run; " + text;
  return verbose ? text : std::string();
}

// Returns what came first, if process 0 knows that, and what this process did then.
std::string failure_line(int code, const std::vector<std::string>& errors,
                         const std::string& activity) {
  constexpr std::string_view marks_first = "first: ";
  std::string line = errors.empty() ? fmt::format("exit code {}", code) : errors.front();
  for (const std::string& error : errors)
    if (error.starts_with(marks_first)) line = error.substr(marks_first.size());
  if (!activity.empty() && line.find(activity) == std::string::npos) line += " during " + activity;
  return line;
}

void count_calls(RunSummary& summary, const Row& row) {
  for (const Measurement* cell : {&row.out_of_place, &row.in_place}) {
    if (row.group.value_or(0) == 0) {  // rank 0's: one row of each group may follow another
      summary.calls += cell->calls;
      summary.verified_calls += cell->verified_calls;
    }
    summary.failed_checks += cell->failed_ranks;
    summary.wrong_elements += cell->wrong.value_or(0);
  }
}

// place: "8 KiB in place".
void add_width(RunSummary& summary, WidthTally& widths, std::optional<double> half_width,
               std::string place) {
  widths.add(half_width);
  summary.usual_width = widths.most_within();
  summary.unusual_times = widths.others();
  summary.wide_times = widths.wider();
  if (!half_width) ++summary.unbounded_times;
  const double width = half_width.value_or(std::numeric_limits<double>::infinity());
  std::vector<WideTime>& widest = summary.widest_times;
  const auto after = std::find_if(widest.begin(), widest.end(),
                                  [&](const WideTime& one) { return one.half_width < width; });
  widest.insert(after, {width, std::move(place)});
  if (widest.size() > most_widest) widest.pop_back();
}

}  // namespace

void add_times(std::vector<SweepTimes>& sweeps, const Row& row) {
  constexpr double least_sigma = 0.01, sigma_of_batches = 0.03;
  for (const Measurement* cell : {&row.out_of_place, &row.in_place}) {
    if (!cell->has_own_time()) continue;
    const char* const placement = cell == &row.in_place ? "in_place" : "out_of_place";
    auto sweep = std::find_if(sweeps.begin(), sweeps.end(), [&](const SweepTimes& one) {
      return one.of.type == row.type && one.of.op == row.op && one.of.root == row.root &&
             one.of.placement == placement;
    });
    if (sweep == sweeps.end()) {
      sweep = sweeps.insert(sweep, SweepTimes());
      sweep->of = {row.type, row.op, row.root, placement, 0, {}};
    }
    sweep->sizes.insert(row.bytes);
    SizeTime time{.bytes = row.bytes, .seconds = cell->seconds, .sigma = sigma_of_batches};
    if (cell->stream) {
      const auto half_width = cell->stream->half_width(cell->seconds);
      const bool judged = half_width.value_or(1) <= most_error;
      if (!judged) {
        ++sweep->of.left_out;
        continue;
      }
      time.sigma = std::max(least_sigma, half_width.value_or(0) / 1.96);
    }
    sweep->times.push_back(time);
  }
}

std::vector<SweepFit> sweep_fits(const std::vector<SweepTimes>& sweeps) {
  std::vector<SweepFit> fits;
  for (const SweepTimes& sweep : sweeps)
    if (sweep.sizes.size() > 1) fits.emplace_back(sweep.of).result = fit_times(sweep.times);
  return fits;
}

void RunJudge::read_baseline() {
  if (options_.limits.baseline.empty()) return;
  if (std::string note = limits_.read_baseline(); !note.empty())
    add_note(summary_, std::move(note));
}

void RunJudge::begin(const RunInfo& run) {
  run_ = run;
  limits_.begin(run);
}

void RunJudge::complete(Row& row) const {
  if (!run_) return;
  std::set<std::string> hosts;
  for (const RankLine& line : run_->rank_lines) {
    const bool in_pair = !row.pair || line.rank == row.pair->first || line.rank == row.pair->second;
    if (in_pair && line.group == row.group.value_or(line.group)) hosts.insert(line.host);
  }
  if (!hosts.empty()) row.hosts = static_cast<int>(hosts.size());
}

std::vector<Row> RunJudge::add(const Row& row, std::size_t requested, RowPlace place) {
  std::vector<Row> rows = {row};
  if (row.pass) {
    std::optional<Row> all = passes_.add(row, requested, place);
    if (!all) return rows;
    rows.push_back(std::move(*all));
  }
  add_to_all(rows.back(), requested);
  return rows;
}

void RunJudge::add_first_call(const Row& row, std::size_t requested) {
  count_calls(summary_, row);
  add_wrong(row, requested, first_call_words, row.out_of_place);
}

std::vector<Row> RunJudge::add_rest() {
  std::vector<Row> rest;
  for (auto& [row, requested] : passes_.take_rest()) {
    add_to_all(row, requested);
    rest.push_back(std::move(row));
  }
  if (!rest.empty())
    add_note(summary_, fmt::format("{} of fewer than {} passes", counted(rest.size(), "row"),
                                   options_.sweep.passes));
  return rest;
}

void RunJudge::add_to_all(Row& row, std::size_t requested) {
  limits_.mark(row, requested);
  ++summary_.rows;
  summary_.largest_bytes = std::max(summary_.largest_bytes, row.bytes);
  count_calls(summary_, row);
  if (row.out_of_place.failed_ranks + row.in_place.failed_ranks > 0) ++summary_.wrong_rows;
  bool capped = false;
  for (const bool in_place : {false, true}) {
    const Measurement& cell = in_place ? row.in_place : row.out_of_place;
    add_wrong(row, requested, placement_words(in_place), cell);
    if (cell.left_out) continue;
    ++sums_.cells;
    sums_.busbw += cell.busbw;
    if (cell.busbw > 0 && (!summary_.peak || cell.busbw > summary_.peak->busbw))
      summary_.peak = Peak{row.bytes, cell.busbw};
    // In place a single rank may have nothing to do: its time is that of a call, whatever the size.
    const bool idle = in_place && run_ && run_->ranks == 1 && cell.seconds < 1e-6;
    if (cell.stream && cell.has_own_time() && !idle) add_time(row, in_place, requested, cell);
    capped = capped || (!cell.stream && cell.iterations < options_.measure.iterations);
  }
  if (capped) ++sums_.capped_rows;
  if (row.coverage < 1) {
    sums_.weakest_bytes = std::max(sums_.weakest_bytes, row.bytes);
    sums_.weakest_coverage = std::min(sums_.weakest_coverage, row.coverage);
  }
  late_ranks_.add(row);
  add_reproduction(summary_.reproduction, row, requested);
  limits_.add(row, requested);
  if (!run_) return;
  if (has_fits(*run_)) add_times(sweeps_, row);
  const bool kept = options_.sweep.cycles != 0 || row.cycle == 0;  // memory is to stay as it is
  if (row.pair && kept) pair_rows_.push_back(row);
}

void RunJudge::add_wrong(const Row& row, std::size_t requested, std::string_view placement,
                         const Measurement& cell) {
  for (const Mismatch& mismatch : cell.mismatches) {
    const std::string where = row_place(row, requested, placement);
    add_note(summary_, wrong_line(mismatch, where));
    if (!summary_.first_wrong.empty()) continue;
    summary_.first_wrong = fmt::format("rank {} on {}, {}, element {}: {}", mismatch.rank,
                                       mismatch.host, where, mismatch.first, mismatch.explanation);
    summary_.rerun = rerun_flags(row, requested, options_.check);
  }
}

void RunJudge::add_time(const Row& row, bool in_place, std::size_t requested,
                        const Measurement& cell) {
  ++summary_.times;
  if (cell.stream->precision_reached) ++summary_.precise_times;
  if (cell.stream->stolen) ++summary_.stolen_times;
  const auto half_width = cell.stream->half_width(cell.seconds);
  add_width(summary_, sums_.widths, half_width,
            binary_size_text(requested) + (in_place ? " in place" : ""));
  bool& sure = sums_.sure_sizes.try_emplace(requested, true).first->second;
  sure = sure && half_width && *half_width <= WidthTally::wide;
  summary_.sure_from_bytes.reset();
  for (auto size = sums_.sure_sizes.rbegin(); size != sums_.sure_sizes.rend() && size->second;
       ++size)
    summary_.sure_from_bytes = size->first;
  if (!half_width || *half_width <= summary_.widest.value_or(0)) return;
  summary_.widest = half_width;
  summary_.widest_row = row_place(row, requested, placement_words(in_place));
}

void RunJudge::judge_end() {
  if (!run_ || std::exchange(judged_, true)) return;
  summary_.average_busbw = average_busbw();
  std::vector<std::string>& notes = summary_.notes;
  if (!summary_.spoiled.empty()) notes.push_back(summary_.spoiled);  // however many there are
  if (!summary_.wire.empty()) notes.push_back(summary_.wire);
  const SweepOptions& sweep = options_.sweep;
  if (options_.spec.window > 1)
    append(notes, message_rates(pair_rows_, sweep.concurrent && !sweep.pairing.all));
  summary_.late_rank = late_ranks_.found();
  for (const RankLine& line : run_->rank_lines)
    if (summary_.late_rank && line.rank == summary_.late_rank->rank)
      summary_.late_rank->host = line.host;
  append(notes, pair_matrices(pair_rows_, run_->output_files));
  summary_.limits = limits_.judge(summary_);
  for (const LimitFinding& found : summary_.limits)
    if (found.flag == average_limit) summary_.bandwidth_ok = found.verdict == LimitVerdict::kept;
  const std::string speed =
      speed_text(run_->core_to_core, summary_.core_to_core, run_->options.output.verbose);
  if (!speed.empty()) notes.push_back(speed);
  if (sums_.capped_rows > 0)
    notes.push_back(fmt::format(
        "{} ran fewer than {} iterations, to keep a row's timed part within {} s (--row-time)",
        counted(sums_.capped_rows, "row"), options_.measure.iterations,
        options_.measure.row_time_s));
  if (sums_.weakest_bytes > 0)
    notes.push_back(
        fmt::format("rows up to {} B are too short to show the loss of every rank's contribution; "
                    "the weakest covers {:.1f} % of the ranks",
                    sums_.weakest_bytes, 100 * sums_.weakest_coverage));
}

int RunJudge::verdict() {
  judge_end();
  return judged();
}

RunSummary RunJudge::conclude(int failure, const std::vector<std::string>& errors,
                              const std::string& activity) {
  summary_.complete = failure == 0;
  summary_.errors = errors;
  if (failure != 0) summary_.failure = failure_line(failure, errors, activity);
  judge_end();
  // A run that was interrupted reached no verdict.
  summary_.exit_code = failure > 128 ? failure : most_severe(failure, judged());
  summary_.verdict = verdict_of(summary_);
  if (summary_.reproduction) summary_.reproduction->digests = options_.check.digests;
  if (summary_.complete) summary_.fits = sweep_fits(sweeps_);
  summary_.end_time = local_time();
  return summary_;
}

RunSummary RunJudge::if_killed(std::string_view failure) const {
  RunSummary summary = summary_;
  summary.complete = false;
  summary.verdict = Verdict::incomplete;
  summary.exit_code = most_severe(exit_code(Exit::failed), judged());
  summary.failure = failure;
  summary.errors = {summary.failure};
  summary.average_busbw = average_busbw();
  summary.end_time = local_time();
  return summary;
}

double RunJudge::average_busbw() const {
  return sums_.cells > 0 ? sums_.busbw / static_cast<double>(sums_.cells) : 0;
}

int RunJudge::judged() const {
  const int slow = has(summary_, LimitVerdict::missed) ? exit_code(Exit::too_slow)
                   : is_undecided(summary_)            ? exit_code(Exit::inconclusive)
                                                       : 0;
  const bool wrong = summary_.failed_checks > 0 || varies(summary_);
  return wrong ? most_severe(slow, exit_code(Exit::wrong_data)) : slow;
}

}  // namespace ccl_tests
