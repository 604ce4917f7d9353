// ccl_replay: makes the calls that a job's traces show, with verified data, on any library.
#include <fmt/format.h>

#include <algorithm>

#include "collectives/collectives.hpp"
#include "src/core/error.hpp"
#include "src/job/job.hpp"
#include "src/options/program_texts.hpp"
#include "src/options/settings.hpp"
#include "tools/replay/arguments.hpp"
#include "tools/replay/replay.hpp"

namespace ccl_tests::replay {
namespace {

int help() {
  fmt::print("{}", help_of(texts(), declare_flags));
  return exit_code(Exit::passed);
}

int run_replay(const Arguments& a, const std::vector<std::string>& words) {
  constexpr int groups_at_once = 8;  // with descriptors of their own
  JobSetup job = job_setup(collectives::all_reduce, a.options, words);
  job.program = "ccl_replay";
  job.communicators_per_rank = groups_at_once;
  verify::PatternCache patterns;
  return run_job(job, [&](Rank& rank) { return run(rank, a, patterns); });
}

}  // namespace
}  // namespace ccl_tests::replay

int main(int argc, char** argv) {
  using namespace ccl_tests;
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  return run_main("ccl_replay", words, [&] {
    const replay::Arguments arguments = replay::parse(words);
    if (arguments.help) return replay::help();
    if (arguments.list) return replay::list(arguments);
    return replay::run_replay(arguments, words);
  });
}
