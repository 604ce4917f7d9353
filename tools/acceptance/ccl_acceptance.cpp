// ccl_acceptance: which hosts of a job are bad, in one launch.
#include <fmt/format.h>

#include <algorithm>

#include "src/core/error.hpp"
#include "src/options/program_texts.hpp"
#include "src/programs/monitored_run.hpp"
#include "tools/acceptance/acceptance_job.hpp"
#include "tools/acceptance/progress.hpp"

int main(int argc, char** argv) {
  using namespace ccl_tests;
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  return run_main("ccl_acceptance", words, [&] {
    const auto prints = [&] {
      const acceptance::Arguments arguments = acceptance::parse(words);
      return arguments.help || arguments.print_plan;
    };
    const auto codes = asked_exit_codes(words);
    if (codes && !asks_for_text(prints))
      return run_monitored("ccl_acceptance", words, *codes, FirstLine::headline);
    const acceptance::Arguments arguments = acceptance::parse(words);
    if (arguments.help)
      return print_page(help_of(acceptance::texts(), acceptance::declare_flags), words);
    const acceptance::Plan plan = acceptance::plan_of(arguments);
    if (arguments.print_plan) return print_page(acceptance::plan_text(plan), words);
    verify::PatternCache patterns;
    return acceptance::run_acceptance(arguments, plan, words, patterns, run_job,
                                      acceptance::RealHost());
  });
}
