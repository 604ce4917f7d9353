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
#include "tools/acceptance/report/headline.hpp"
#include "tools/acceptance/report/verdict_json.hpp"

namespace ccl_tests::acceptance {
namespace {

double now_s() {
  using Seconds = std::chrono::duration<double>;
  return std::chrono::duration_cast<Seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// What people are told first: who it is, if that is known.
int rank_of(const Check& check) {
  if (check.reason == "HOST_LOST") return 0;
  if (check.reason == "WRONG_DATA") return 1;
  return check.subject == "run" ? 3 : 2;
}

std::vector<Check> of_stage(const Record& record, const std::string& stage) {
  std::vector<Check> checks;
  for (const Check& check : record.checks)
    if (check.stage == stage) checks.push_back(check);
  return checks;
}

}  // namespace

Verdict worst(const std::vector<Check>& checks) {
  Verdict verdict = Verdict::skipped;
  for (const Check& check : checks) verdict = std::max(verdict, check.verdict);
  return verdict;
}

void judge(Record& record) {
  record.verdict = worst(record.checks);
  if (record.verdict == Verdict::skipped || (!record.complete && record.verdict < Verdict::fail))
    record.verdict = Verdict::inconclusive;
  record.reason = record.complete ? "NOTHING_MEASURED" : "ENDED_EARLY";
  if (record.verdict == Verdict::pass) record.reason = "OK";
  const Check* deciding = nullptr;
  for (const Check& check : record.checks) {
    if (check.verdict != record.verdict || record.verdict == Verdict::pass) continue;
    if (deciding == nullptr || rank_of(check) < rank_of(*deciding)) deciding = &check;
  }
  if (deciding != nullptr) record.reason = deciding->reason;
  record.headline = make_headline(record);
}

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

bool Journal::has_begun() const {
  const std::lock_guard lock(mutex_);
  return record_.begin_s > 0;
}

bool Journal::measures() const {
  const std::lock_guard lock(mutex_);
  return measures_;
}

void Journal::resume(const Record& before) {
  const std::lock_guard lock(mutex_);
  const auto refuse = [](const std::string& what, const std::string& then, const std::string& now) {
    throw UsageError(
        fmt::format("--resume: {} was {}, and is {}; accepted: the same", what, then, now));
  };
  const auto names = [](const Record& record) {
    std::string all;
    for (const Host& host : record.hosts)
      all +=
          fmt::format("{}{} ({})", all.empty() ? "" : ", ", host.name, fmt::join(host.ranks, ","));
    return all;
  };
  if (before.plan != record_.plan) refuse("the plan", before.plan, record_.plan);
  if (before.plan_digest.empty() && !record_.plan_digest.empty())
    throw UsageError(fmt::format(
        "--resume: the file does not say which text plan {} had; accepted: files of this version on",
        record_.plan));
  if (before.plan_digest != record_.plan_digest)
    refuse(fmt::format("the text of plan {} (SHA-256)", record_.plan), before.plan_digest,
           record_.plan_digest);
  if (before.backend != record_.backend || before.library != record_.library)
    refuse("the library", before.backend + ' ' + before.library,
           record_.backend + ' ' + record_.library);
  if (names(before) != names(record_)) refuse("the list of hosts", names(before), names(record_));
  // What lay between two confirmations that are to be made again is made again, too.
  const auto pairs = std::find_if(before.stages.begin(), before.stages.end(),
                                  [](const Stage& one) { return one.name == "pairs"; });
  const double begun_s =
      pairs != before.stages.end() && pairs->end_s <= 0 ? pairs->begin_s : HUGE_VAL;
  const auto is_taken = [&](const Stage& one) {
    return one.end_s > 0 && one.begin_s < begun_s && one.name != "limits";
  };
  const auto ended = [&](const std::string& stage) {
    return std::any_of(before.stages.begin(), before.stages.end(),
                       [&](const Stage& one) { return one.name == stage && is_taken(one); });
  };
  for (const Stage& stage : before.stages) {
    if (!is_taken(stage)) continue;
    record_.stages.push_back(stage);
    tell_(fmt::format("{}: {}, as the run before found", stage.name, name(stage.verdict)));
  }
  for (const Check& check : before.checks)
    if (ended(check.stage)) record_.checks.push_back(check);
  for (const Curve& curve : before.curves)
    if (ended(curve.stage)) record_.curves.push_back(curve);
  for (const PairMatrix& matrix : before.pairs)
    if (ended(matrix.rail == 0 ? "pairs" : "rails")) record_.pairs.push_back(matrix);
  if (ended("hosts"))
    for (std::size_t h = 0; h < record_.hosts.size(); ++h)
      record_.hosts[h].facts = before.hosts[h].facts;
}

void Journal::expect(std::vector<PlannedStage> stages) {
  std::erase_if(stages, [&](const PlannedStage& one) { return has(one.name); });
  const std::lock_guard lock(mutex_);
  progress_ = Progress(std::move(stages), monotonic_seconds());
  try {
    write();
  } catch (const Error& e) {
    throw UsageError(e.what());
  }
  tell_("timed calls take " + expected_text(progress_.left(monotonic_seconds())));
}

bool Journal::has(const std::string& stage) const {
  const std::lock_guard lock(mutex_);
  return std::any_of(record_.stages.begin(), record_.stages.end(),
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
  check.stage = stage.name;
  check.begin_s = stage.begin_s;
  check.end_s = now_s();
  tell_failed(check);
  record_.checks.push_back(std::move(check));
  write();
}

void Journal::end_stage() {
  const std::lock_guard lock(mutex_);
  Stage& stage = record_.stages.at(open_.back());
  stage.verdict = worst(of_stage(record_, stage.name));
  stage.end_s = now_s();
  open_.pop_back();
  progress_.end(monotonic_seconds());
  tell_(fmt::format("{}: {} ({:.1f} s)", stage.name, name(stage.verdict),
                    stage.end_s - stage.begin_s));
  write();
}

void Journal::describe_hosts(const std::vector<std::map<std::string, std::string>>& facts) {
  const std::lock_guard lock(mutex_);
  for (std::size_t h = 0; h < facts.size(); ++h) record_.hosts.at(h).facts = facts[h];
}

void Journal::add(PairMatrix matrix) {
  const std::lock_guard lock(mutex_);
  record_.pairs.push_back(std::move(matrix));
}

void Journal::add(Curve curve) {
  const std::lock_guard lock(mutex_);
  record_.curves.push_back(std::move(curve));
}

void Journal::exclude(const std::vector<std::string>& hosts) {
  const std::lock_guard lock(mutex_);
  for (const std::string& host : hosts) exclude_one(host);
}

void Journal::exclude_one(const std::string& host) {  // under the mutex
  std::vector<std::string>& all = record_.excluded;
  if (std::find(all.begin(), all.end(), host) == all.end()) all.push_back(host);
}

void Journal::complete() {
  const std::lock_guard lock(mutex_);
  record_.complete = true;
}

std::vector<std::string> Journal::lost_hosts(const RanksEnd& end) const {
  std::vector<std::string> names;
  for (const Host& host : record_.hosts) {
    const auto is_there = [&](int rank) {
      return std::find(host.ranks.begin(), host.ranks.end(), rank) != host.ranks.end();
    };
    if (std::any_of(end.gone.begin(), end.gone.end(), is_there)) names.push_back(host.name);
  }
  if (!record_.hosts.empty()) return names;
  const std::set<std::string> unique(end.gone_hosts.begin(), end.gone_hosts.end());
  return {unique.begin(), unique.end()};
}

Record Journal::end(const RanksEnd& end) {
  const std::lock_guard lock(mutex_);
  if (!end.errors.empty()) {
    // A signal is of a person, a batch system, or a launcher that lost another rank: by itself it says nothing of
    // any host.
    const bool interrupted = end.failure > 128;
    const bool timed_out = end.failure == exit_code(Exit::timed_out);
    const std::string& failure = end.errors.front();
    const Verdict unfinished =
        interrupted && end.gone.empty() ? Verdict::inconclusive : Verdict::fail;
    record_.complete = false;
    const std::string stage = open_.empty() ? "run" : record_.stages[open_.back()].name;
    const auto add = [&](Check check) {
      check.stage = stage;
      check.begin_s = check.end_s = now_s();
      tell_failed(check);
      record_.checks.push_back(std::move(check));
    };
    const std::vector<std::string> lost = lost_hosts(end);
    for (const std::string& host : lost) {
      add({.id = stage + "/lost/" + host,
           .subject = "host " + host,
           .verdict = Verdict::fail,
           .reason = "HOST_LOST",
           .text = "a rank there is gone or silent: " + failure});
      exclude_one(host);
    }
    if (lost.empty()) {
      Check ended{.id = stage + "/ended",
                  .verdict = unfinished,
                  .reason = interrupted ? "INTERRUPTED" : "ENDED_EARLY",
                  .text = failure};
      if (!end.gone.empty()) {  // before the hosts were known
        ended.reason = "HOST_LOST";
      } else if (timed_out) {
        ended.reason = "TIMED_OUT";
        ended.text = end.late.empty() ? "timed out: " + failure
                                      : fmt::format("timed out: others wait for {}; {}",
                                                    ranks_text(end.late), failure);
      }
      add(std::move(ended));
    }
    // Without an end: --resume makes them again.
    for (const std::size_t number : open_) record_.stages[number].verdict = unfinished;
  }
  record_.end_s = now_s();
  acceptance::judge(record_);
  try {
    write();
  } catch (const Error& e) {
    write_error_ = e.what();
  }
  return record_;
}

Record Journal::record() const {
  const std::lock_guard lock(mutex_);
  Record record = record_;
  acceptance::judge(record);
  return record;
}

void Journal::tell_failed(const Check& check) const {
  if (check.verdict > Verdict::pass)
    tell_(fmt::format("{}: {} {}: {} [{}]", check.stage, name(check.verdict), check.subject,
                      check.text, check.reason));
}

void Journal::write() {
  if (file_.empty()) return;
  // Judged each time: if rank 0 is killed, the file stays as it is now.
  Record record = record_;
  acceptance::judge(record);
  replace_file(file_, verdict_json(record));
}

}  // namespace ccl_tests::acceptance
