// What an operator does after a run, as a sentence and as a command.
#pragma once

#include <string>

#include "tools/acceptance/record.hpp"

namespace ccl_tests::acceptance {

struct NextStep {
  std::string what;     // half a sentence
  std::string command;  // to type; empty: there is nothing to run
};

// Returns what the verdict asks for. The command begins with its launcher if the launcher is Open MPI's or MPICH's
// mpirun, or srun, and leaves out the hosts that the record excludes.
NextStep next_step(const Record& record);

}  // namespace ccl_tests::acceptance
