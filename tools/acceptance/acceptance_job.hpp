// The job of an acceptance run: what each rank does, and the files that are left.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "src/job/job.hpp"
#include "tools/acceptance/arguments.hpp"
#include "tools/acceptance/host/probe.hpp"
#include "tools/acceptance/plan/plan.hpp"
#include "tools/acceptance/record.hpp"
#include "verify/pattern.hpp"

namespace ccl_tests::acceptance {

// Returns the exit code of a verdict.
int exit_code_of(const Record& record);

// run_job, or what does the same elsewhere.
using RunJob = std::function<int(const JobSetup& job, const RankBody& body, const JobHooks& hooks)>;

// Runs `plan`; prints the verdict and writes the files that `arguments` name in the process of rank 0.
// words: the command line. host: of each rank. Returns the exit code. Throws what run_job throws; UsageError if a file
// cannot be written to.
int run_acceptance(const Arguments& arguments, const Plan& plan,
                   const std::vector<std::string>& words, verify::PatternCache& patterns,
                   const RunJob& run_job, const HostProbe& host);

}  // namespace ccl_tests::acceptance
