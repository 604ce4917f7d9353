// ccl_selftest: does verification find what is spoiled on purpose, and nothing else.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "collectives/collectives.hpp"
#include "src/core/error.hpp"
#include "src/job/job.hpp"
#include "src/options/program_texts.hpp"
#include "src/options/settings.hpp"
#include "src/record/quantity_text.hpp"
#include "tools/selftest/arguments.hpp"
#include "tools/selftest/trial.hpp"

namespace ccl_tests::selftest {
namespace {

std::string list() {
  std::string lines;
  for (const FaultKind kind : all_faults())
    lines += fmt::format("{:<22} {}\n", name(kind), about(kind));
  return lines;
}

int run_trial(const Arguments& a, const std::vector<std::string>& words) {
  JobSetup job = job_setup(collectives::all_reduce, a.options, words);
  job.program = "ccl_selftest";
  job.inject = Fault{};  // ranks have an injector, which is told what to do row by row
  verify::PatternCache patterns;
  Tallies first;           // of rank 0
  bool has_first = false;  // is in this process
  JobHooks hooks;
  hooks.write_end = [&](const RanksEnd& end) {
    if (end.failure == 0 && has_first) fmt::print("{}", text_of(first));
    std::fflush(stdout);
    return end.failure != 0 ? end.failure : end.exit_code;
  };
  const RankBody body = [&](Rank& rank) {
    Tallies others;
    if (!rank.is_first()) return run(rank, a, patterns, others);
    const Backend& backend = rank.process().backend;
    has_first = true;
    fmt::print("# ccl_selftest: {}, {} {}\n",
               counted(static_cast<std::uint64_t>(rank.ranks()), "rank"), backend.name(),
               backend.info().version);
    return run(rank, a, patterns, first);
  };
  return run_job(job, body, hooks);
}

}  // namespace
}  // namespace ccl_tests::selftest

int main(int argc, char** argv) {
  using namespace ccl_tests;
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  return run_main("ccl_selftest", words, [&] {
    const selftest::Arguments arguments = selftest::parse(words);
    if (arguments.help)
      return print_page(help_of(selftest::texts(), selftest::declare_flags), words);
    if (arguments.list) return print_page(selftest::list(), words);
    return selftest::run_trial(arguments, words);
  });
}
