// ccl_replay: makes the calls that a job's traces show, with verified data, on any library.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "collectives/collectives.hpp"
#include "src/core/error.hpp"
#include "src/job/job.hpp"
#include "src/options/program_texts.hpp"
#include "src/options/settings.hpp"
#include "src/report/crash_footer.hpp"
#include "tools/replay/arguments.hpp"
#include "tools/replay/replay.hpp"

namespace ccl_tests::replay {
namespace {

int run_replay(const Arguments& a, const std::vector<std::string>& words) {
  constexpr int groups_at_once = 8;  // with descriptors of their own
  JobSetup job = job_setup(collectives::all_reduce, a.options, words);
  job.program = "ccl_replay";
  job.communicators_per_rank = groups_at_once;
  verify::PatternCache patterns;
  std::string printed;                   // of rank 0
  std::optional<CrashFooter> if_killed;  // of its process
  const auto incomplete = [](int code, std::string_view why) {
    return fmt::format("# INCOMPLETE: {} (exit {})\n", why, code);
  };
  JobHooks hooks;
  hooks.open = [&](const Process& process) {
    if (process.launch.process != 0) return;
    if_killed.emplace();
    if_killed->set({{.text = incomplete(exit_code(Exit::failed), how_process_0_ended)}});
  };
  hooks.doing = [&](const std::string& what) {
    if (if_killed) if_killed->doing(what);
  };
  hooks.write_end = [&](const RanksEnd& end) {
    if (!if_killed) return end.failure != 0 ? end.failure : end.exit_code;
    const std::string text =
        end.failure == 0 ? printed
                         : incomplete(end.failure, fmt::format("{}", fmt::join(end.errors, "; ")));
    if_killed->set({{.text = text}});
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    if_killed->set({});
    return end.failure != 0 ? end.failure : end.exit_code;
  };
  return run_job(
      job, [&](Rank& rank) { return run(rank, a, patterns, printed); }, hooks);
}

}  // namespace
}  // namespace ccl_tests::replay

int main(int argc, char** argv) {
  using namespace ccl_tests;
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  return run_main("ccl_replay", words, [&] {
    const replay::Arguments arguments = replay::parse(words);
    if (arguments.help) return print_page(help_of(replay::texts(), replay::declare_flags), words);
    if (arguments.list) return replay::list(arguments);
    return replay::run_replay(arguments, words);
  });
}
