#include "tools/acceptance/acceptance_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>

#include "collectives/collectives.hpp"
#include "src/core/error.hpp"
#include "src/core/given_file.hpp"
#include "src/core/output_file.hpp"
#include "src/core/quote.hpp"
#include "src/core/version.hpp"
#include "src/core/write_all.hpp"
#include "src/options/settings.hpp"
#include "tools/acceptance/report/writers.hpp"
#include "tools/acceptance/stages/stages.hpp"

namespace ccl_tests::acceptance {
namespace {

namespace fs = std::filesystem;

// Returns the command line as a shell takes it.
std::string command_of(const Process& process) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+.,:/@%";
  std::string command = "ccl_acceptance";
  for (const std::string& word : typed_arguments(process)) {
    const bool is_plain = !word.empty() && word.find_first_not_of(plain) == std::string::npos;
    command += ' ' + (is_plain ? word : shell_quoted(word));
  }
  return command;
}

Record header(const Rank& rank, const Arguments& arguments, const Plan& plan, const Hosts& hosts) {
  const Process& process = rank.process();
  return {.plan = plan.name,
          .plan_digest = plan.digest,
          .version = std::string(version()),
          .backend = process.backend.name(),
          .library = process.backend.info().version,
          .launcher = process.launch.launcher,
          .command = command_of(process),
          .seed = arguments.options.check.seed,
          .hosts = hosts.all()};
}

// Returns whether something that was looked at says how fast the hosts together should be; of one host: the host.
bool has_ceiling(const Record& record) {
  return std::ranges::any_of(record.checks, [&](const Check& check) {
    const bool of_all = check.stage == "pairs" || check.stage == "full" ||
                        (check.stage == "node" && record.hosts.size() == 1);
    return of_all && check.verdict != Verdict::skipped &&
           std::ranges::any_of(check.numbers, [](const Number& one) {
             return one.name == "limit" && one.value > 0;
           });
  });
}

bool says(const Record& record, std::string_view reason) {
  return std::ranges::any_of(record.checks, [&](const Check& check) {
    return check.verdict == Verdict::fail && check.reason == reason;
  });
}

bool was_measured(const Record& record, const RateLimit& limit) {
  const std::string program = fmt::format("/{}/", limit.program);
  const std::string size = limit.bytes == 0 ? "" : fmt::format("{}{}", program, limit.bytes);
  return std::ranges::any_of(record.checks, [&](const Check& check) {
    return check.stage == limit.stage && check.verdict != Verdict::skipped &&
           check.id.find(program) != std::string::npos && check.id.ends_with(size);
  });
}

// Adds a check of each limit that nothing was held to, and whether there is any.
void check_limits(Context& context) {
  Journal& journal = context.journal;
  const Record record = journal.record();
  const bool one_host = context.hosts.number() < 2;
  journal.begin_stage("limits", "was every limit of the plan looked at, and is there one?");
  for (const RateLimit& limit : context.plan.limits)
    if (!was_measured(record, limit))
      journal.add(fmt::format("limits/{}/{}/{}", limit.stage, limit.program, limit.bytes),
                  Verdict::inconclusive, "LIMIT_NOT_MEASURED",
                  fmt::format("the limit of {} in {} met no row", limit.row(), limit.stage));
  if (context.plan.pairs.min_bandwidth > 0 && one_host)
    journal.add("limits/pairs/min_bandwidth", Verdict::inconclusive, "LIMIT_NOT_MEASURED",
                "the limit of pairs of hosts met no pair: there is one host");
  if (has_ceiling(record))
    journal.add("limits/ceiling", Verdict::pass, "OK",
                "something says how fast the hosts together should be");
  else
    journal.add(
        "limits/ceiling", context.plan.strict ? Verdict::inconclusive : Verdict::skipped,
        "NO_CEILING",
        one_host
            ? "there is one host: its speed is compared with nothing, and the plan has no limit of it"
            : "all hosts may be slow alike: --min-bandwidth is not given, and no wire says its rate");
  journal.end_stage();
}

// Adds a check of --inject, which a run that finds nothing wrong does not pass.
void check_fault(Journal& journal) {
  if (std::ranges::any_of(journal.record().checks, is_wrong_data)) return;
  journal.begin_stage("inject", "was what --inject spoils found?");
  journal.add("inject", Verdict::inconclusive, "NOTHING_SPOILED", std::string(nothing_spoiled));
  journal.end_stage();
}

// flag: whose file it is.
Record record_in(const std::string& file, const char* flag) {
  constexpr std::size_t largest_verdict = std::size_t{256} << 20;  // of some thousand hosts
  std::string text;
  try {
    text = read_given_file(file, largest_verdict);
  } catch (const Error& e) {
    throw UsageError(fmt::format("{}: {}", flag, e.what()));
  }
  try {
    return read_verdict(text);
  } catch (const Error& e) {
    throw UsageError(fmt::format("{}: {}: {}", flag, quote(file), e.what()));
  }
}

// rails: hosts have them, and the plan wants them looked at.
void lead(Context& context, bool rails) {
  const Plan& plan = context.plan;
  Journal& journal = context.journal;
  const auto look = [&](const char* stage, bool planned, const std::function<void()>& measure) {
    if (!planned || journal.has(stage)) return;
    try {
      measure();
    } catch (const TooLarge& e) {  // is not measured; other stages are
      journal.add(stage, Verdict::inconclusive, "NOT_MEASURED", e.what());
      journal.end_stage();
    }
  };
  const std::vector<int> everybody = context.hosts.everybody();
  look("hosts", true, [&] { compare_hosts(context); });
  look("sanity", plan.sanity, [&] { check_programs(context); });
  look("node", plan.node.run, [&] { measure_nodes(context); });
  bool went_on = false;
  const auto together = [&] {
    went_on = true;
    look("rails", rails, [&] { measure_rails(context); });
    look("full", plan.full.run, [&] { measure_all(context, "full", everybody); });
    look("scaling", plan.scaling.run, [&] { measure_scaling(context); });
    look("soak", plan.soak_s > 0, [&] { soak(context); });
  };
  look("pairs", plan.pairs.run, [&] { measure_pairs(context, together); });
  if (!went_on) together();
  std::vector<int> rest;
  const Record record = journal.record();
  for (const int host : everybody) {
    const std::string& name = context.hosts[host].name;
    const bool failed = std::ranges::any_of(record.checks, [&](const Check& check) {
      return check.verdict == Verdict::fail && check.subject == "host " + name;
    });
    if (failed)
      journal.exclude(name);
    else
      rest.push_back(host);
  }
  look("rest", plan.full.run && rest.size() < everybody.size() && !rest.empty(),
       [&] { measure_all(context, "rest", rest); });
  check_limits(context);
}

// One rank's part: looks at everything in the plan. Returns the exit code, the same on all ranks. Collective.
int run(Rank& rank, const Arguments& arguments, const Plan& plan, verify::PatternCache& patterns,
        Journal* journal, const HostProbe& probe) {
  const Hosts hosts(rank.table());
  std::optional<Record> before;  // of --baseline
  const bool rails = has_rails(plan, hosts, rank.process().staging.gpus != nullptr);
  // Says how the run ended if the process of rank 0 is gone: on another host, if there is one, because a host takes all
  // of its processes with it.
  const int stand_in =
      hosts.number() > 1 ? hosts[1].ranks.front() : rank.process().options.ranks_per_process();
  if (rank.is_first()) {
    racks_of(plan, hosts);  // refuses a plan whose racks are not those of the job
    journal->begin(header(rank, arguments, plan, hosts));
    if (!arguments.resume.empty()) journal->resume(record_in(arguments.resume, "--resume"));
    if (!arguments.baseline.empty()) {
      before = record_in(arguments.baseline, "--baseline");
      check_same_run(*before, journal->record());
      if (!before->complete)
        rank.process().log(fmt::format(
            "--baseline: the run in {} did not reach its end: the rows that it has are compared",
            quote(arguments.baseline)));
    }
    journal->expect(planned_stages(plan, hosts.number(), hosts.most_ranks(), rails));
  } else if (rank.rank() == stand_in) {
    journal->begin(header(rank, arguments, plan, hosts));
  }
  rank.activity().phase("connecting the library under test");
  Team team(rank, arguments.options, patterns, probe);
  // A flag or variable of all ranks asks for an interface as the plan does.
  const auto& own_choice = team.library().chosen_interface;
  const std::vector<std::string> chosen =
      rank.world().all_gather(own_choice ? own_choice->name : "", rank.limit_s());
  if (!rank.is_first()) {
    team.follow();
    return rank.agree(0);
  }
  Plan wired = plan;
  if (plan.interface.empty() && std::ranges::count(chosen, chosen.front()) == rank.ranks())
    wired.interface = chosen.front();
  Context context{team, wired, hosts, *journal, arguments.options.check.seed};
  lead(context, rails);
  if (rank.injector() != nullptr) check_fault(*journal);
  if (before) {
    const Record now = journal->record();
    journal->begin_stage("baseline", "which rows are slower than in the earlier run?");
    for (Check& check : compare_rows(*before, now, plan.pairs.slowdown))
      journal->add(std::move(check));
    journal->end_stage();
  }
  journal->complete();
  team.end();
  return rank.agree(exit_code_of(journal->record()));
}

// Writes all files. Says what cannot be written, and goes on with the rest. Returns whether all was.
bool write_all(const Arguments& a, const Record& record) {
  bool all = true;
  const auto write = [&](const std::string& path, const std::function<std::string()>& text) {
    if (path.empty()) return;
    try {
      if (const std::string why = write_over(path, text()); !why.empty())
        throw Error(fmt::format("cannot write {}: {}", path, why));
    } catch (const Error& e) {
      say("ccl_acceptance", e.what());
      all = false;
    }
  };
  write(a.report, [&] { return html_page(record); });
  write(a.junit, [&] { return junit_text(record); });
  write(a.hosts_out, [&] { return hosts_text(record.excluded, a.hosts_format); });
  return all;
}

// Throws UsageError.
void open_file(const std::string& path, std::ios::openmode mode) {
  if (!path.empty() && !std::ofstream(path, mode))
    throw UsageError(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

}  // namespace

int exit_code_of(const Record& record) {
  switch (record.verdict) {
    case Verdict::pass:
    case Verdict::warn: return exit_code(Exit::passed);
    case Verdict::skipped:
    case Verdict::inconclusive: return exit_code(Exit::inconclusive);
    case Verdict::fail: break;
  }
  if (std::ranges::any_of(record.checks, is_wrong_data)) return exit_code(Exit::wrong_data);
  if (says(record, "HOST_LOST") || says(record, "WRONG_WIRE")) return exit_code(Exit::failed);
  return exit_code(Exit::too_slow);
}

int run_acceptance(const Arguments& a, const Plan& plan, const std::vector<std::string>& words,
                   verify::PatternCache& patterns, const RunJob& run_job, const HostProbe& host) {
  JobSetup job = job_setup(collectives::all_reduce, a.options, words);
  job.program = "ccl_acceptance";
  job.communicators_per_rank = 2;  // of all ranks, and of a group
  std::unique_ptr<Journal> journal;
  bool leads = false;  // this process has rank 0
  JobHooks hooks;
  hooks.open = [&](const Process& process) {
    leads = process.launch.process == 0;
    if (!leads) {
      journal = std::make_unique<Journal>("", [](const std::string& /*line*/) {});
      return;
    }
    journal = std::make_unique<Journal>(
        a.verdict, [](const std::string& line) { print_error(fmt::format("# {}\n", line)); });
    // A file that cannot be written to is found now, not at the end.
    open_file(a.verdict, std::ios::app);
    for (const std::string& path : {a.report, a.junit, a.hosts_out})
      open_file(path, std::ios::trunc);
    // Nobody must take what an earlier run has left for this one's. What this run still has to read stays until then.
    std::error_code none;
    if (fs::is_regular_file(a.verdict, none) && fs::file_size(a.verdict, none) > 0 &&
        !fs::equivalent(a.verdict, a.resume, none) && !fs::equivalent(a.verdict, a.baseline, none))
      journal->mark_unfinished();
  };
  job.disagreement = [&a, settings = job.disagreement](ControlChannel& channel,
                                                       const NamedValue& backend) {
    if (auto why = settings(channel, backend)) return why;
    Arguments given = a;
    FlagSet flags;
    declare_flags(flags, given);
    return lost_files(channel, a.options.backend.init_timeout_s, flags);
  };
  hooks.write_end = [&](const RanksEnd& end) {
    const bool stands_in = end.lost_process_0 && std::ranges::find(end.gone, 0) != end.gone.end();
    if (!journal || !(leads || (stands_in && journal->record().begin_s > 0)))
      return end.failure != 0 ? end.failure : end.exit_code;
    // Nothing was run: that says nothing of any host.
    const bool refused =
        end.failure == exit_code(Exit::usage) || end.failure == exit_code(Exit::unsupported);
    if (refused && !journal->measures()) return end.failure;
    const Record record = journal->end(end);
    const std::string text = terminal_text(record, a.verdict);
    const bool told = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
    if (!told)
      say(job.program, fmt::format("cannot write the verdict to stdout: {}", std::strerror(errno)));
    const std::string& lost = journal->write_error();
    if (!lost.empty()) say(job.program, lost);
    const bool written = !leads || (write_all(a, record) && lost.empty());
    if (end.failure > 128) return end.failure;  // interrupted by a signal
    if (end.failure != 0) return most_severe(end.failure, exit_code_of(record));
    return told && written ? end.exit_code : most_severe(end.exit_code, exit_code(Exit::failed));
  };
  return run_job(
      job, [&](Rank& rank) { return run(rank, a, plan, patterns, journal.get(), host); }, hooks);
}

}  // namespace ccl_tests::acceptance
