// The command line of ccl_acceptance.
#pragma once

#include <string>
#include <vector>

#include "src/core/exit_codes.hpp"
#include "src/options/flag.hpp"
#include "src/options/options.hpp"
#include "src/options/program_texts.hpp"
#include "tools/acceptance/plan/plan.hpp"
#include "tools/acceptance/report/writers.hpp"

namespace ccl_tests::acceptance {

struct Arguments {
  Options options;               // of the job and the library
  std::string plan = "generic";  // a name, or a .toml file
  bool print_plan = false;
  std::string resume, baseline;                   // verdict files; empty: none
  std::string verdict, report, junit, hosts_out;  // files; empty: not written
  double min_bandwidth = 0;                       // bytes per second; 0: what the plan says
  bool strict = false;
  HostsFormat hosts_format = HostsFormat::lines;
  ExitCodes exit_codes = ExitCodes::native;
  bool help = false;
};

void declare_flags(FlagSet& set, Arguments& arguments);
ProgramTexts texts();
// Throws UsageError.
Arguments parse(const std::vector<std::string>& words);
// Returns the plan that is named, with the changes that other arguments ask for. Its digest changes with its limits.
// Throws UsageError.
Plan plan_of(const Arguments& arguments);

}  // namespace ccl_tests::acceptance
