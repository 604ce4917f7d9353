#include "tools/acceptance/journal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <set>
#include <utility>

#include "src/bootstrap/rank_status.hpp"
#include "src/core/clock.hpp"
#include "src/core/error.hpp"
#include "src/core/output_file.hpp"
#include "tools/acceptance/report/writers.hpp"

namespace ccl_tests::acceptance {
namespace {

double now_s() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// Returns whether people are told of a check first: who it is, if that is known.
int rank_of(const Check& check) {
  if (check.reason == "HOST_LOST") return 0;
  if (check.reason == "WRONG_DATA") return 1;
  return check.subject == "run" ? 3 : 2;
}

// Returns the worst verdict of a stage's checks; skipped ones do not count beside others. stage: empty: all.
Verdict worst(const Record& record, std::string_view stage = {}) {
  Verdict verdict = Verdict::skipped;
  for (const Check& check : record.checks)
    if (stage.empty() || check.stage == stage) verdict = std::max(verdict, check.verdict);
  return verdict;
}

// Sets the verdict of a record and what decided it. A run that did not reach its end, or that looked
// at nothing, is not PASS.
Record judged(Record record) {
  record.verdict = worst(record);
  record.verdict = shown_verdict(record);
  record.reason = record.complete ? "NOTHING_MEASURED" : "ENDED_EARLY";
  if (record.verdict == Verdict::pass) record.reason = "OK";
  const Check* deciding = nullptr;
  for (const Check& check : record.checks) {
    if (check.verdict != record.verdict || record.verdict == Verdict::pass) continue;
    if (deciding == nullptr || rank_of(check) < rank_of(*deciding)) deciding = &check;
  }
  if (deciding != nullptr) record.reason = deciding->reason;
  return record;
}

std::string names_and_ranks(const std::vector<Host>& hosts) {
  std::vector<std::string> all;
  for (const Host& host : hosts)
    all.push_back(fmt::format("{} ({})", host.name, fmt::join(host.ranks, ",")));
  return fmt::format("{}", fmt::join(all, ", "));
}

// Throws UsageError unless the run that is resumed and this one have the same.
void check_same(const std::string& what, const std::string& then, const std::string& now) {
  if (then != now)
    throw UsageError(
        fmt::format("--resume: {} was {}, and is {}; accepted: the same", what, then, now));
}

void exclude_once(std::vector<std::string>& all, const std::string& host) {
  if (std::ranges::find(all, host) == all.end()) all.push_back(host);
}

// Returns the names of the hosts whose ranks are gone.
std::vector<std::string> lost_hosts(const Record& record, const RanksEnd& end) {
  std::set<std::string> unique;
  if (record.hosts.empty()) unique.insert(end.gone_hosts.begin(), end.gone_hosts.end());
  std::vector<std::string> names(unique.begin(), unique.end());
  for (const Host& host : record.hosts)
    if (std::ranges::find_first_of(host.ranks, end.gone) != host.ranks.end())
      names.push_back(host.name);
  return names;
}

}  // namespace

Journal::Journal(std::string file, std::function<void(const std::string&)> tell)
    : file_(std::move(file)), tell_(std::move(tell)) {}

void Journal::mark_unfinished() {
  const std::lock_guard lock(mutex_);
  try {
    write();
  } catch (const Error& e) {
    throw UsageError(e.what());
  }
}

void Journal::begin(Record header) {
  const std::lock_guard lock(mutex_);
  record_ = std::move(header);
  record_.begin_s = now_s();
}

bool Journal::measures() const {
  const std::lock_guard lock(mutex_);
  return measures_;
}

void Journal::resume(const Record& before) {
  const std::lock_guard lock(mutex_);
  check_same("the plan", before.plan, record_.plan);
  check_same(fmt::format("the text of plan {} (SHA-256)", record_.plan), before.plan_digest,
             record_.plan_digest);
  check_same("the library", before.backend + ' ' + before.library,
             record_.backend + ' ' + record_.library);
  check_same("the list of hosts", names_and_ranks(before.hosts), names_and_ranks(record_.hosts));
  // The stages between two confirmations that are to be made again are made again, too.
  const auto pairs = std::ranges::find(before.stages, "pairs", &Stage::name);
  const double begun_s =
      pairs != before.stages.end() && pairs->end_s <= 0 ? pairs->begin_s : HUGE_VAL;
  std::set<std::string> ended;
  for (const Stage& stage : before.stages) {
    if (stage.end_s <= 0 || stage.begin_s >= begun_s || stage.name == "limits") continue;
    ended.insert(stage.name);
    record_.stages.push_back(stage);
    tell_(fmt::format("{}: {}, as the run before found", stage.name, name(stage.verdict)));
  }
  for (const Check& check : before.checks)  // right data now do not undo wrong ones
    if (ended.contains(check.stage) || is_wrong_data(check)) record_.checks.push_back(check);
  for (const Curve& curve : before.curves)
    if (ended.contains(curve.stage)) record_.curves.push_back(curve);
  for (const PairMatrix& matrix : before.pairs)
    if (ended.contains(matrix.rail == 0 ? "pairs" : "rails")) record_.pairs.push_back(matrix);
  if (ended.contains("hosts")) record_.hosts = before.hosts;
}

void Journal::expect(std::vector<PlannedStage> stages) {
  std::erase_if(stages, [&](const PlannedStage& one) { return has(one.name); });
  mark_unfinished();
  const std::lock_guard lock(mutex_);
  progress_ = Progress(std::move(stages), monotonic_seconds());
  tell_("timed calls take " + expected_text(progress_.left(monotonic_seconds())));
}

bool Journal::has(const std::string& stage) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(record_.stages,
                             [&](const Stage& one) { return one.name == stage && one.end_s > 0; });
}

void Journal::begin_stage(const std::string& name, const std::string& text) {
  const std::lock_guard lock(mutex_);
  record_.stages.push_back({.name = name, .text = text, .begin_s = now_s()});
  open_.push_back(record_.stages.size() - 1);
  measures_ = true;
  progress_.begin(name, monotonic_seconds());
  tell_(fmt::format("{}: {}", name, text));
  write();
}

void Journal::at(const Part& part) {
  const std::lock_guard lock(mutex_);
  if (const auto line = progress_.at(part, monotonic_seconds()))
    tell_(fmt::format("{}: {}", record_.stages.at(open_.back()).name, *line));
}

void Journal::add(Check check) {
  const std::lock_guard lock(mutex_);
  const Stage& stage = record_.stages.at(open_.back());
  keep(std::move(check), stage.name, stage.begin_s);
  write();
}

void Journal::add(std::string id, Verdict verdict, std::string reason, std::string text,
                  std::string subject) {
  Check check{.id = std::move(id), .subject = std::move(subject)};
  check.set(verdict, std::move(reason), std::move(text));
  add(std::move(check));
}

void Journal::end_stage() {
  const std::lock_guard lock(mutex_);
  Stage& stage = record_.stages.at(open_.back());
  stage.verdict = worst(record_, stage.name);
  stage.end_s = now_s();
  open_.pop_back();
  progress_.end(monotonic_seconds());
  tell_(fmt::format("{}: {} ({:.1f} s)", stage.name, name(stage.verdict),
                    stage.end_s - stage.begin_s));
  write();
}

void Journal::describe_host(std::size_t host, const std::map<std::string, std::string>& facts) {
  const std::lock_guard lock(mutex_);
  record_.hosts.at(host).facts = facts;
}

void Journal::add(PairMatrix matrix) {
  const std::lock_guard lock(mutex_);
  record_.pairs.push_back(std::move(matrix));
}

void Journal::add(Curve curve) {
  const std::lock_guard lock(mutex_);
  record_.curves.push_back(std::move(curve));
}

void Journal::exclude(const std::string& host) {
  const std::lock_guard lock(mutex_);
  exclude_once(record_.excluded, host);
}

void Journal::complete() {
  const std::lock_guard lock(mutex_);
  record_.complete = true;
}

Record Journal::end(const RanksEnd& end) {
  const std::lock_guard lock(mutex_);
  if (!end.errors.empty()) keep_failure(end);
  record_.end_s = now_s();
  record_ = judged(std::move(record_));
  try {
    write();
  } catch (const Error& e) {
    write_error_ = e.what();
  }
  return record_;
}

void Journal::keep_failure(const RanksEnd& end) {
  // A signal is of a person, a batch system, or a launcher that lost another rank: by itself it says nothing of
  // any host.
  const bool interrupted = end.failure > 128;
  const std::string& failure = end.errors.front();
  const Verdict unfinished =
      interrupted && end.gone.empty() ? Verdict::inconclusive : Verdict::fail;
  record_.complete = false;
  const std::string stage = open_.empty() ? "run" : record_.stages[open_.back()].name;
  const std::vector<std::string> lost = lost_hosts(record_, end);
  for (const std::string& host : lost) {
    keep({.id = stage + "/lost/" + host,
          .subject = "host " + host,
          .verdict = Verdict::fail,
          .reason = "HOST_LOST",
          .text = "a rank there is gone or silent: " + failure},
         stage, now_s());
    exclude_once(record_.excluded, host);
  }
  if (lost.empty()) {
    Check ended{.id = stage + "/ended"};
    ended.set(unfinished, interrupted ? "INTERRUPTED" : "ENDED_EARLY", failure);
    if (!end.gone.empty()) {  // before the hosts were known
      ended.reason = "HOST_LOST";
    } else if (end.failure == exit_code(Exit::timed_out)) {
      ended.reason = "TIMED_OUT";
      ended.text = end.late.empty() ? "timed out: " + failure
                                    : fmt::format("timed out: others wait for {}; {}",
                                                  ranks_text(end.late), failure);
    }
    keep(std::move(ended), stage, now_s());
  }
  // Without an end: --resume makes them again.
  for (const std::size_t number : open_) record_.stages[number].verdict = unfinished;
}

Record Journal::record() const {
  const std::lock_guard lock(mutex_);
  return judged(record_);
}

void Journal::keep(Check check, const std::string& stage, double begin_s) {
  check.stage = stage;
  check.begin_s = begin_s;
  check.end_s = now_s();
  if (check.verdict > Verdict::pass)
    tell_(fmt::format("{}: {} {}: {} [{}]", stage, name(check.verdict), check.subject, check.text,
                      check.reason));
  record_.checks.push_back(std::move(check));
}

// Judges the record each time: if rank 0 is killed, the file stays as it is now.
void Journal::write() const {
  if (!file_.empty()) replace_file(file_, verdict_json(judged(record_)));
}

}  // namespace ccl_tests::acceptance
