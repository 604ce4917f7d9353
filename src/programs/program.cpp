#include "src/programs/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "src/core/error.hpp"
#include "src/job/job.hpp"
#include "src/options/options.hpp"
#include "src/options/settings.hpp"
#include "src/programs/monitored_run.hpp"
#include "src/report/explanations.hpp"
#include "src/report/run_results.hpp"
#include "src/run/sweep.hpp"

namespace ccl_tests {
namespace {

// Writes to stderr, where those look who keep stdout in a file.
void say_first(const std::string& program, const std::vector<std::string>& lines) {
  constexpr std::size_t most = 20;
  for (std::size_t i = 0; i < std::min(lines.size(), most); ++i) say(program, lines[i]);
  if (lines.size() > most) say(program, fmt::format("{} more on stdout", lines.size() - most));
}

// X_perf on the ranks of a job.
int run_sweep(const Collective& collective, const Options& options, const JobSetup& job) {
  RunResults results(options);
  verify::PatternCache patterns;
  std::function<std::string()> doing_now = [] { return std::string(); };
  JobHooks hooks;
  hooks.check = [&](const Process&, int ranks) {
    check_groups(collective, options, unplaced_groups(options, ranks));
  };
  hooks.open = [&](const Process& process) {
    if (process.launch.process != 0) return;
    open_files(results, options, process.log);
    results.survive_kills();
    results.read_earlier_runs();
  };
  hooks.doing = [&](const std::string& what) { results.doing(what); };
  hooks.show = [&](std::function<std::string()> activity, std::function<void()> clear) {
    doing_now = std::move(activity);
    results.before_print(std::move(clear));
  };
  hooks.write_end = [&](const RanksEnd& end) {
    const int verdict =
        most_severe(end.exit_code, results.finish(end.failure, end.errors, doing_now()));
    if (end.failure == 0) {
      for (const std::string& line : results.unwritten()) say(job.program, line);
      say_first(job.program, results.reasons());
    }
    return end.failure > 128 ? end.failure : verdict;
  };
  const RankBody body = [&](Rank& rank) {
    return sweep(rank, collective, options, patterns, results);
  };
  return run_job(job, body, hooks);
}

}  // namespace

int run_program(const Collective& program, int argc, char** argv) {
  const std::vector<std::string> arguments(argv + std::min(argc, 1), argv + argc);
  const std::string name = fmt::format("{}_perf", program.name);
  return run_main(name, arguments, [&] {
    const auto prints = [&] {
      const Parsed parsed = parse_options(program, arguments, process_environment());
      return parsed.print || parsed.options.output.explain;
    };
    const auto codes = asked_exit_codes(arguments);
    if (codes && !asks_for_text(prints))
      return run_monitored(name, arguments, *codes,
                           program.domain.sweeps ? FirstLine::verdict : FirstLine::none);
    const Parsed parsed = parse_options(program, arguments, process_environment());
    if (parsed.print) return print_page(*parsed.print, arguments);
    if (!program.domain.sweeps)
      return run_init(parsed.options, job_setup(program, parsed.options, arguments));
    if (parsed.options.output.explain) return print_page(explain(program), arguments);
    if (is_first_process(parsed.options.job.launcher)) mark_unfinished(parsed.options.output);
    const Collective& collective = in_mode(program, parsed.options.sweep.mode);
    return run_sweep(collective, parsed.options, job_setup(collective, parsed.options, arguments));
  });
}

}  // namespace ccl_tests
