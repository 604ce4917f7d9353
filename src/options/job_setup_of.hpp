// What the command line says about the job, as the job takes it.
#pragma once

#include <string>
#include <vector>

#include "src/core/collective.hpp"
#include "src/job/job_setup.hpp"
#include "src/options/options.hpp"

namespace ccl_tests {

// collective and options: outlive the result.
JobSetup job_setup(const Collective& collective, const Options& options,
                   const std::vector<std::string>& arguments);

}  // namespace ccl_tests
