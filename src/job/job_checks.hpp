// What is decided or refused before a job's processes look for each other.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/bootstrap/launch.hpp"
#include "src/job/job_setup.hpp"

namespace ccl_tests {

// Fills options.threads or options.local_processes if neither a launcher nor -t, -g or --np says how many
// ranks there are: a process for each GPU of this machine, or 2 to 4 threads by its CPUs.
void choose_default_ranks(JobSetup& options, const Launch& launch, const Backend& backend,
                          const Staging& staging);

// The three throw Unsupported.
void refuse_gpu_flags(const JobSetup& options, const Backend& backend);
void refuse_staged_flags(const JobSetup& options, const Staging& staging);
void refuse_more_ranks(const JobSetup& options, const Backend& backend);

// Raises the soft limit of open files as far as needed. Throws Unsupported if the hard limit is
// below.
void provide_descriptors(std::size_t needed);

// Returns the arguments without --np and its value.
std::vector<std::string> without_np(const std::vector<std::string>& arguments);

}  // namespace ccl_tests
