// ccl_acceptance on simulated ranks: the search for bad hosts on clusters that nobody has at hand.
#include <algorithm>

#include "src/core/error.hpp"
#include "src/devices/host_limits.hpp"
#include "src/programs/simulated_program.hpp"
#include "tools/acceptance/acceptance_job.hpp"

namespace ccl_tests::acceptance {
namespace {

// Neither the files of this machine nor its counters say anything of a simulated host.
class SimulatedHost : public HostProbe {
 public:
  HostDescription describe(const std::string& /*interface*/) const override {
    return {.facts = {{"simulated on", cpu_model()}}};
  }
  Counters counters() const override { return {}; }
};

}  // namespace
}  // namespace ccl_tests::acceptance

int main(int argc, char** argv) {
  using namespace ccl_tests;
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  return run_simulated_main("ccl_acceptance", [&] {
    const acceptance::Arguments arguments = acceptance::parse(words);
    if (arguments.help || arguments.print_plan)
      throw UsageError("-h and --plan need no simulated ranks; accepted: ccl_acceptance itself");
    return acceptance::run_acceptance(arguments, acceptance::plan_of(arguments), words,
                                      simulated_patterns(), run_simulated_job,
                                      acceptance::SimulatedHost());
  });
}
