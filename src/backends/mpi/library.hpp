// The MPI library of this process: started once, asked for its name, its errors as ours.
#pragma once

#include <mpi.h>

#include <string>

namespace ccl_tests::mpi_module {

// Throws Error with MPI's text for `status`. call: "MPI_Allreduce".
[[noreturn]] void fail(int status, const char* call);

// Throws Error if `status` is not MPI_SUCCESS. Inline, since it runs after every timed call.
inline void check(int status, const char* call) {
  if (status != MPI_SUCCESS) fail(status, call);
}

// Calls MPI_Init_thread, on the program's main thread; a second call does nothing. thread_level:
// single, funneled, serialized or multiple. Empty: single if all processes are on one host,
// otherwise funneled, since libraries of networks need to know of the suite's other threads, which
// sleep while ranks are measured. Open MPI's calls take 105 ns longer with any other level than
// single. Throws Unsupported where MPI_Init would kill the job instead of failing (a Slurm step
// without PMI).
void start(const std::string& thread_level = {});
std::string thread_level();  // "MPI_THREAD_SINGLE"
void finish();

// Process 0's bytes on every process of MPI_COMM_WORLD, which must have so many. Collective.
std::string from_process_0(const std::string& bytes, int processes);

std::string library_version();  // "Open MPI v4.1.4, ...": one line
std::string library_file();     // the shared object that holds MPI
bool cuda_aware();              // it says, once started, that it takes CUDA's memory

}  // namespace ccl_tests::mpi_module
