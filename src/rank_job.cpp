#include "src/rank_job.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "src/alltoallv_options.hpp"
#include "src/bootstrap/launch.hpp"
#include "src/core/host.hpp"
#include "src/devices/host_memory.hpp"
#include "src/memory_limit.hpp"
#include "src/rank_run.hpp"
#include "src/settings.hpp"
#include "src/spec_notes.hpp"

namespace ccl {
namespace {

// What every rank tells all others before anything is measured.
struct Identity {
  std::string host, machine, cpu;
  long pid = 0;
  std::size_t memory = 0;  // available on its machine

  static Identity mine() {
    return {this_host(), machine_id(), cpu_model(), static_cast<long>(getpid()),
            available_memory()};
  }
  // Containers and network namespaces of one kernel are hosts of their own.
  std::string place() const { return host + ' ' + machine; }
  std::string text() const { return nlohmann::json{host, machine, cpu, pid, memory}.dump(); }
  static Identity from(const std::string& text) {
    const auto json = nlohmann::json::parse(text);
    return {json.at(0), json.at(1), json.at(2), json.at(3), json.at(4)};
  }
};

std::vector<Identity> meet(Bootstrap& bootstrap, double limit_s) {
  std::vector<Identity> all;
  for (const std::string& text : bootstrap.exchange(Identity::mine().text(), limit_s))
    all.push_back(Identity::from(text));
  return all;
}

bool on_one_machine(const std::vector<Identity>& ranks) {
  return std::all_of(ranks.begin(), ranks.end(),
                     [&](const Identity& r) { return r.machine == ranks[0].machine; });
}

// Bytes of one rank's buffer that every machine can hold twice for each of its ranks, beside what
// the library takes.
std::size_t memory_per_buffer(const std::vector<Identity>& ranks, double scratch) {
  std::map<std::string, std::size_t> ranks_on;
  for (const Identity& r : ranks) ++ranks_on[r.machine];
  std::size_t limit = std::numeric_limits<std::size_t>::max();
  for (const Identity& r : ranks)
    limit = std::min(limit, buffer_limit(r.memory, ranks_on[r.machine], scratch));
  return limit;
}

std::vector<std::string> places(const std::vector<Identity>& ranks) {
  std::vector<std::string> result;
  for (const Identity& r : ranks) result.push_back(r.place());
  return result;
}

// What fits for the groups of every size.
SizePlan plan_sizes(const RankJob& job, const std::vector<Identity>& ranks, const Groups& groups) {
  const auto all = static_cast<int>(ranks.size());
  const std::size_t limit = memory_per_buffer(ranks, job.backend.scratch_factor(all));
  SizePlan least;
  for (const int n : groups.distinct_sizes()) {
    SizePlan plan = limit_sizes(job.collective, job.options, n, limit);
    if (least.sizes.empty() || plan.sizes.size() < least.sizes.size()) least = std::move(plan);
  }
  return least;
}

Communicator& connect(RankJob& job, Bootstrap& bootstrap, Pulse& pulse) {
  const Options& o = job.options;
  const Watched watched(pulse, o.init_timeout_s + 5);  // later than the library's own limit
  Communicator& communicator = job.open.add(job.backend.connect(bootstrap, o.backend_options));
  communicator.set_time_limit(o.timeout_s);
  return communicator;
}

// This rank's group; null where all ranks are one in their own order.
std::unique_ptr<Bootstrap> split(Bootstrap& world, const Groups& groups, double limit_s) {
  if (groups.number() == 1 && std::is_sorted(groups.members(0).begin(), groups.members(0).end()))
    return nullptr;
  const int rank = world.rank();
  return world.split(groups.group_of(rank), groups.rank_in_group(rank), limit_s);
}

std::vector<RankLine> rank_lines(const std::vector<Identity>& ranks, const Groups& groups) {
  std::map<std::string, int> next_on;  // place
  std::vector<RankLine> lines;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    lines.push_back({static_cast<int>(r), groups.group_of(static_cast<int>(r)), ranks[r].pid,
                     ranks[r].host, next_on[ranks[r].place()]++, ranks[r].cpu});
  }
  return lines;
}

// "8 ranks on 2 hosts: 4 on each", or from the fewest to the most.
std::string ranks_per_host(const std::vector<Identity>& ranks) {
  std::map<std::string, int> count;
  for (const Identity& r : ranks) ++count[r.place()];
  const auto less = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto [fewest, most] = std::minmax_element(count.begin(), count.end(), less);
  const std::string each = fewest->second == most->second
                               ? fmt::format("{} on each", most->second)
                               : fmt::format("{} to {} on each", fewest->second, most->second);
  return fmt::format("{} ranks on {} hosts: {}", ranks.size(), count.size(), each);
}

// What distinguishes this run from others of its program.
std::string mode_of(const Collective& collective, const Options& o) {
  if (!collective.paired) return std::string(collective.mode);
  return fmt::format("{}, window {}{}", o.spec.bidirectional ? "bidirectional" : "back and forth",
                     o.spec.window, o.concurrent ? ", pairs at once" : "");
}

std::vector<std::string> pair_lines(const Options& o, const std::vector<PairRound>& rounds) {
  std::size_t pairs = 0;
  for (const PairRound& round : rounds) pairs += round.size();
  if (pairs == 0) return {};
  const char* const what =
      o.spec.bidirectional ? "a call in which both send at the same time" : "a round trip, halved";
  const std::string each =
      o.spec.window > 1 ? fmt::format(", divided by the {} messages of a window", o.spec.window)
                        : "";
  return {
      fmt::format("time: of one message one way: {}{}; bandwidths: of one direction", what, each),
      fmt::format("pairs: {}, in {} round{}, a row for each", pairs, rounds.size(),
                  rounds.size() == 1 ? "" : "s")};
}

RunRecord describe(const RankJob& job, const std::vector<Identity>& ranks, const Groups& groups,
                   const std::vector<PairRound>& rounds, const SizePlan& plan,
                   const Communicator& communicator) {
  const Options& o = job.options;
  RunRecord run;
  run.program = fmt::format("{}_perf", job.collective.name);
  run.version = CCL_VERSION;
  run.backend = job.backend.name();
  run.library_version = job.backend.version();
  run.library_file = job.backend.library();
  run.arguments = job.arguments;
  for (const char* variable :
       {"NCCL_TESTS_MIN_BW", "NCCL_TESTS_ALLTOALLV_SPREAD", "NCCL_TESTS_ALLTOALLV_MATRIX_FILE",
        "NCCL_TESTS_ALLTOALLV_MATRIX_SCALE", "NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY",
        "NCCL_TESTS_SPLIT", "NCCL_TESTS_SPLIT_MASK", "RANK", "WORLD_SIZE", "LOCAL_RANK",
        "MASTER_ADDR", "MASTER_PORT", "TORCHELASTIC_RUN_ID", "TORCHELASTIC_RESTART_COUNT"}) {
    if (const auto value = process_environment()(variable))
      run.environment.emplace_back(variable, *value);
  }
  run.launcher = job.launch.launcher;
  run.threads = o.threads.value_or(1);
  run.ranks_per_thread = o.ranks_per_thread.value_or(1);
  run.processes = job.launch.processes;
  run.ranks = static_cast<int>(ranks.size());
  run.min_bytes = o.sizes.empty() ? o.min_bytes : *std::min_element(o.sizes.begin(), o.sizes.end());
  run.max_bytes = o.sizes.empty() ? o.max_bytes : *std::max_element(o.sizes.begin(), o.sizes.end());
  run.step_bytes = o.step_bytes;
  run.step_factor = o.step_factor;
  run.sizes = o.sizes;
  run.warmup = o.warmup;
  run.iterations = o.iterations;
  run.aggregate = o.aggregate;
  run.check = o.check;
  run.average = o.average;
  run.blocking = o.blocking;
  run.cycles = o.cycles;
  run.unalign = o.unalign;
  run.parallel_init = o.parallel_init;
  run.cpu_time = o.cpu_time;
  run.timestamps = o.timestamps;
  run.group_rows = o.group_rows;
  run.seed = o.seed;
  run.cpus_allowed = allowed_cpus();
  run.notes = job.notes;
  run.mode = mode_of(job.collective, o);
  if (!run.mode.empty()) run.notes.push_back("mode: " + run.mode);
  for (std::string& line : spec_notes(job.collective, o.spec)) run.notes.push_back(std::move(line));
  const std::string settings = spec_label(job.collective, o.spec);
  if (!settings.empty()) run.mode += (run.mode.empty() ? "" : ", ") + settings;
  for (std::string& line : pair_lines(o, rounds)) run.notes.push_back(std::move(line));
  run.pair_rows = rounds.size() > 1 || (!rounds.empty() && rounds.front().size() > 1);
  if (ranks.front().place() != ranks.back().place()) run.notes.push_back(ranks_per_host(ranks));
  if (o.grouping.splits())
    run.notes.push_back(fmt::format("groups by '{}': {}, all at once; {}", o.grouping.text,
                                    groups.describe(),
                                    o.group_rows ? "a row for each" : "rows show the slowest"));
  std::istringstream description(communicator.description());
  for (std::string line; std::getline(description, line);) run.notes.push_back(line);
  if (!plan.sizes.empty()) {
    const std::size_t largest = *std::max_element(plan.sizes.begin(), plan.sizes.end());
    for (std::string& line : alltoallv_summary(job.collective, o, groups.ranks_of(0), largest))
      run.notes.push_back(std::move(line));
  }
  run.reduced_max = plan.reduced_max;
  run.rank_lines = rank_lines(ranks, groups);
  run.start_time = local_time();
  return run;
}

}  // namespace

Communicator& OpenCommunicators::add(std::unique_ptr<Communicator> communicator) {
  const std::lock_guard lock(mutex_);
  return *open_.emplace_back(std::move(communicator));
}
void OpenCommunicators::close(Communicator& communicator) {
  std::unique_ptr<Communicator> closing;  // outside the lock: it may wait for its peers
  const std::lock_guard lock(mutex_);
  for (auto& c : open_) {
    if (c.get() == &communicator) closing = std::move(c);
  }
  std::erase(open_, nullptr);
}
void OpenCommunicators::abort_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& c : open_) c->abort();
}
void OpenCommunicators::abandon() {
  const std::lock_guard lock(mutex_);
  for (auto& c : open_) static_cast<void>(c.release());
}

void run_rank(RankJob& job, Bootstrap& bootstrap, Progress& progress, Pulse& pulse,
              bool first_of_process) {
  const Options& o = job.options;
  const std::vector<Identity> ranks = meet(bootstrap, o.init_timeout_s);
  std::vector<Term> settings = shared_settings(job.collective, o);
  settings.push_back({"--backend", std::string(job.backend.name())});
  if (const auto why = disagreement(bootstrap, o.init_timeout_s, job.collective.name, settings))
    throw UsageError(*why);
  const Groups groups(o.grouping, places(ranks));
  check_groups(job.collective, o, groups);
  std::vector<PairRound> rounds;
  if (job.collective.paired) rounds = pair_rounds(o.pairing, o.concurrent, bootstrap.ranks());
  const Groups running = rounds.empty() ? groups : as_groups(rounds.front(), bootstrap.ranks());
  const SizePlan plan = plan_sizes(job, ranks, running);
  progress.phase("connecting the library under test");
  Communicator& world = connect(job, bootstrap, pulse);
  const auto group = split(bootstrap, groups, o.init_timeout_s);
  Communicator& communicator = group ? connect(job, *group, pulse) : world;

  const bool reports = first_of_process && bootstrap.rank() == 0;
  if (reports) job.recorder.begin(describe(job, ranks, groups, rounds, plan, communicator));
  const RunContext context{
      job.collective,       o, running, rounds, plan.sizes, job.patterns, progress,
      on_one_machine(ranks)};
  RankRun run(context,
              {bootstrap, group ? *group : bootstrap, world, communicator,
               ranks[static_cast<std::size_t>(bootstrap.rank())].host},
              pulse);
  run.sweep(
      [&](const Row& row, std::size_t requested) {
        if (first_of_process) job.recorder.row(row, requested);
      },
      [&](const std::string& line) {
        if (first_of_process) job.recorder.note(line);
        if (reports) job.log(line);
      });
  bootstrap.exchange(
      "", o.init_timeout_s);  // nobody tears its connections down while others still use them
  if (group) job.open.close(communicator);
  job.open.close(world);
}

}  // namespace ccl
