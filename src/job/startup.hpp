// The way of a process from its command line and its launcher to its peers: what is decided or refused before any is
// waited for, the MPI that carries the address, the library's own start, the joining.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "src/backends/registry.hpp"
#include "src/bootstrap/launch.hpp"
#include "src/job/job_setup.hpp"

namespace ccl_tests {

// Decides where buffers lie and, if neither a launcher nor -t, -g or --np says it, how many ranks there
// are: a process for each GPU of this machine (options.local_processes), or 2 to 4 threads by its CPUs
// (options.threads). Opens the GPUs if the backend or --memory needs them. Throws Unsupported if the
// backend or this build cannot do what is asked for, Error if the machine's GPUs cannot be used or are
// fewer than --expect-gpus.
Staging settle(JobSetup& options, const Launch& launch, const Backend& backend);

// Raises the soft limit of open files as far as needed. Throws Unsupported if the hard limit is
// below.
void provide_descriptors(std::size_t needed);

// Returns the arguments without --np and its value.
std::vector<std::string> without_np(const std::vector<std::string>& arguments);

// Opens /dev/null for each of stdin, stdout and stderr that is closed, in such a way that writing to
// stdout fails. Called first: otherwise the next file that the process opens, a -J file or a socket,
// would take the number and be written to.
void reserve_standard_files();

// The module of the MPI through which the launched processes learn where to meet; null where a
// store tells them, or there is one process. Throws Unsupported with what brings it.
BackendPtr open_launcher(const Launch& launch);

// Starts both, if `launcher` is there, on the main thread. MPI waits in it for all processes, and for
// ever if some never come: after init_timeout_s this process ends with Exit::timed_out and a line to
// `give_up`. A wait of 3 s is a line to `log`.
void start_libraries(const Backend& backend, const Backend* launcher, const BackendOptions& options,
                     const Launch& launch, const std::function<void(const std::string&)>& log,
                     const std::function<void(const std::string&)>& give_up);

// Ends both, if `launcher` is there, on the main thread. MPI waits in it for all processes, and
// sometimes for ever: after limit_s (0: no limit) `give_up` is called with what did not end, and must
// not return.
void finish_libraries(const Backend& backend, const Backend* launcher, double limit_s,
                      const std::function<void(const std::string&)>& give_up);

}  // namespace ccl_tests
