#include "tools/acceptance/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/bootstrap/launch.hpp"
#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/core/sha256.hpp"
#include "src/inject/fault.hpp"
#include "src/options/command_line.hpp"
#include "src/options/flags.hpp"
#include "src/options/values.hpp"

namespace ccl_tests::acceptance {

void declare_flags(FlagSet& set, Arguments& a) {
  a.options.job.bind =
      "none";  // where ranks share CPUs, two of one CPU would look like a slow pair
  set.begin(Group::what);
  set.add(a.print_plan, "--plan", "", "instead: print what would be looked at, for how long",
          zero_or_one());
  set.add(a.min_bandwidth, "--min-bandwidth", "RATE",
          "fail if half of the pairs of hosts do not reach RATE, as 10Gbit/s or 48MB/s",
          parse_bandwidth, {.by_default = "the plan's, or its share of the wires' rate"});
  set.add(a.strict, "--strict", "",
          "call a run INCONCLUSIVE (8) that nothing says the hosts' speed of, not PASS (relative)",
          zero_or_one());
  set.add(
      a.resume, "--resume", "FILE",
      "leave out the stages that the run of this --verdict file has ended: same plan, hosts, library",
      parse_file, {.file_use = FileUse::read});
  set.add(
      a.baseline, "--baseline", "FILE",
      "warn of each row that is slower than in the run of this --verdict file, by more than the "
      "plan's slowdown",
      parse_file, {.file_use = FileUse::read});
  set.add(a.options.check.seed, "--seed", "N", "seed of schedules and data", in_range(0, 1 << 30));
  declare_inject(set, a.options.job);
  declare_job(set, a.options);
  declare_library(set, a.options);
  AcceptedFlags taken;
  taken.sweep = "has rows of its own";
  declare_gpus(set, a.options, taken);
  set.begin(Group::output);
  set.add(a.verdict, "--verdict", "FILE",
          "also write FILE, all that was found (JSON), after each check", parse_file,
          {.file_use = FileUse::written});
  set.add(a.report, "--report", "FILE", "also write FILE, a page for a browser (HTML)", parse_file,
          {.file_use = FileUse::written});
  set.add(a.junit, "--junit", "FILE", "also write FILE, a test case for each check (JUnit XML)",
          parse_file, {.file_use = FileUse::written});
  set.add(a.hosts_out, "--hosts-out", "FILE", "also write FILE, the hosts to leave out", parse_file,
          {.file_use = FileUse::written});
  set.add(a.hosts_format, "--hosts-format", "FORMAT",
          "of that file: lines, or slurm (--exclude=...)",
          name_of<HostsFormat>({HostsFormat::lines, HostsFormat::slurm}));
  set.add(a.exit_codes, "--exit-codes", "NAME",
          "whose exit codes to end with: native, nagios, npd (Node Problem Detector) or aicr",
          name_of(all_exit_codes()), {.by_default = "native"});
  set.add(a.help, "-h,--help", "", "print this help", zero_or_one());
}

ProgramTexts texts() {
  static constexpr ExitText exits[] = {
      {"0", "PASS or WARN; PASS (relative): hosts are alike, but may all be slow"},
      {"2", "usage"},
      {"3", "unsupported here"},
      {"4", "FAIL: a host was lost, the library failed, or data took another wire"},
      {"5", "FAIL: timed out"},
      {"6", "FAIL: something is too slow"},
      {"7", "FAIL: wrong data"},
      {"8", "INCONCLUSIVE"},
      {"128 + signal", "INCONCLUSIVE: interrupted"}};
  return {.name = "ccl_acceptance",
          .about = "tests the hosts of a job, and names the bad ones",
          .operands = "[PLAN]",
          .examples = {{"mpirun ... ccl_acceptance", "one rank for each host, or for each GPU"},
                       {"mpirun ... ccl_acceptance quick",
                        fmt::format("a built-in plan: {}", fmt::join(builtin_plans(), ", "))},
                       {"mpirun ... ccl_acceptance rack7.toml --report rack7.html",
                        "a plan of one's own, and a page to send on"},
                       {"ccl_acceptance --plan rack7.toml", "what would be looked at"}},
          .exits = exits};
}

Arguments parse(const std::vector<std::string>& words) {
  Arguments a;
  FlagSet set;
  declare_flags(set, a);
  CommandLine line = read_command_line(set, words);
  std::vector<std::string> plans;
  std::erase_if(line.unknown, [&](const std::string& word) {
    if (word.starts_with('-')) return false;
    plans.push_back(word);
    return true;
  });
  a.help = !read_flags(set, line, "ccl_acceptance");
  if (!a.help) read_variables(set, process_environment());
  if (plans.size() > 1)
    throw UsageError(fmt::format("{}: a second plan; accepted: one", quote(plans[1])));
  if (!plans.empty()) a.plan = plans.front();
  std::vector<std::string> files = {a.verdict, a.report, a.junit, a.hosts_out};
  std::erase(files, "");
  std::ranges::sort(files);
  if (const auto twice = std::ranges::adjacent_find(files); twice != files.end())
    throw UsageError(
        fmt::format("{}: two files of that name; accepted: each its own", quote(*twice)));
  return a;
}

Plan plan_of(const Arguments& a) {
  Plan plan = plan_of(a.plan);
  plan.strict = a.strict;
  if (a.min_bandwidth <= 0) return plan;
  if (!plan.pairs.run)
    throw UsageError(
        "--min-bandwidth: the plan measures no pairs; accepted: run = true in [pairs]");
  plan.pairs.min_bandwidth = a.min_bandwidth;
  plan.digest = text_digest(fmt::format("{} {}", plan.digest, a.min_bandwidth));
  return plan;
}

}  // namespace ccl_tests::acceptance
