#include "tools/mesh/lane.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/core/communicator.hpp"
#include "src/core/error.hpp"
#include "src/core/thread.hpp"
#include "src/run/memory_limit.hpp"

namespace ccl_tests::mesh {
namespace {

// Returns options under which every turn takes its time, and each group has a row.
Options options_of(const Arguments& a, std::size_t number) {
  Options o = a.options;
  constexpr std::uint64_t apart = 1000003;  // data of patterns differ, so that leaks are seen
  o.check.seed += apart * number;
  o.sweep.types = {a.type};
  o.sweep.ops = {a.op};
  o.sweep.sizes = {a.patterns[number].bytes};
  o.sweep.placements = Placements::out_of_place;
  o.sweep.group_rows = true;
  constexpr double never_reached = 1e-6;
  o.measure.precision = never_reached;
  o.measure.time_budget_s = a.turn_s;
  o.measure.row_time_s = std::max(o.measure.row_time_s, a.turn_s);
  return o;
}

// A limit of exchanges to which ranks come after calls of unknown length. Ranks whose calls do not
// end are reported before.
constexpr double patience_s = 3600;

}  // namespace

void Gate::open() {
  const std::lock_guard lock(mutex_);
  begun_ = 0;
  held_ = false;
  last_.reset();
}

bool Gate::go_on() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !held_ || last_ || abandoned_; });
  if (abandoned_ || (last_ && begun_ >= *last_)) return false;
  if (++begun_ == 1) changed_.notify_all();
  return true;
}

std::size_t Gate::hold() {
  const std::lock_guard lock(mutex_);
  held_ = true;
  return begun_;
}

void Gate::finish(std::size_t n) {
  const std::lock_guard lock(mutex_);
  last_ = n;
  changed_.notify_all();
}

bool Gate::wait_for_call() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return begun_ > 0 || abandoned_; });
  return !abandoned_;
}

void Gate::abandon() {
  const std::lock_guard lock(mutex_);
  abandoned_ = true;
  changed_.notify_all();
}

Lane::Lane(Rank& rank, const Arguments& a, std::size_t number, verify::PatternCache& patterns)
    : rank_(rank),
      pattern_(a.patterns[number]),
      options_(options_of(a, number)),
      turn_s_(a.turn_s),
      groups_(a.mesh.groups(pattern_.dimension)),
      point_{a.type, std::nullopt, 0, pattern_.bytes, &groups_, 0},
      patterns_(patterns),
      channel_(rank.world().split(0, rank.rank(), rank.limit_s())),
      own_(rank, *channel_, activity_),
      thread_(start_thread([this] { run(); })) {
  if (pattern_.collective->domain.reduces) point_.op = a.op;
}

Lane::~Lane() {
  gate_.abandon();
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void Lane::report(const std::string& what, Exit code) {
  std::string where;
  {
    const std::lock_guard lock(mutex_);
    where = where_;
  }
  rank_.fail(fmt::format("{}: {}", where, activity_.text()), code, what);
}

void Lane::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return work_ || leaving_; });
    if (!work_) return;
    const std::function<void()> work = work_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      const auto watchdog = start_watchdog(
          activity_, [this](double stuck_s) { report(stuck_text(stuck_s), Exit::timed_out); });
      work();
    } catch (const Error& e) {
      report(e.what(), e.code());
      failure = std::current_exception();
    } catch (const std::exception& e) {
      report(e.what(), Exit::failed);
      failure = std::current_exception();
    }
    activity_.expect_nothing();
    if (failure) gate_.abandon();
    lock.lock();
    failure_ = failure;
    work_ = nullptr;
    changed_.notify_all();
  }
}

void Lane::begin(const std::string& beside, std::function<void()> work) {
  const std::lock_guard lock(mutex_);
  where_ = beside.empty() ? pattern_.name : fmt::format("{} beside {}", pattern_.name, beside);
  work_ = std::move(work);
  changed_.notify_all();
}

void Lane::wait() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return !work_; });
  if (failure_) std::rethrow_exception(failure_);
}

PointRows Lane::connect(double share) {
  begin("", [this, share] {
    const Process& process = own_.process();
    activity_.phase("connecting the library under test");
    runner_ = std::make_unique<BenchmarkRunner>(own_, options_, groups_, patterns_);
    const Capabilities& library = runner_->communicator().capabilities();
    auto why = library.why_not(operations_of(*pattern_.collective));
    if (!why) why = library.why_not(point_.type, point_.op);
    if (why) throw Unsupported(*why);
    RankTable table = table_with_free_memory(own_);
    for (RankIdentity& rank : table.ranks)
      rank.memory = static_cast<std::size_t>(static_cast<double>(rank.memory) * share);
    const SizePlan plan = plan_sizes(*pattern_.collective, options_, table, groups_,
                                     process.staging.buffers, process.backend.info());
    runner_->reserve(*pattern_.collective, {{point_.type}, plan.sizes, plan.slots, {groups_}, {}});
    runner_->set_budget(turn_s_);
    found_ = runner_->warm_up(*pattern_.collective, point_);
  });
  wait();
  return std::move(found_);
}

PointRows Lane::measure(const std::string& beside) {
  begin(beside, [this] { found_ = runner_->run(*pattern_.collective, point_); });
  wait();
  return std::move(found_);
}

void Lane::begin_loop(const std::string& beside) {
  gate_.open();
  begin(beside, [this] {
    found_ = runner_->repeat(*pattern_.collective, point_, [this] { return gate_.go_on(); });
  });
  if (!gate_.wait_for_call()) wait();
}

PointRows Lane::end_loop() {
  const std::string mine = std::to_string(gate_.hold());
  std::size_t most = 0;
  for (const std::string& calls : rank_.world().all_gather(mine, patience_s))
    most = std::max<std::size_t>(most, std::stoull(calls));
  gate_.finish(most);
  wait();
  return std::move(found_);
}

void Lane::close() {
  begin("", [this] { runner_->close(); });
  wait();
}

}  // namespace ccl_tests::mesh
