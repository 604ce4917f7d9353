// The first line of a report, and the command to type next.
#pragma once

#include <string>

#include "src/report/headline.hpp"
#include "tools/acceptance/record.hpp"

namespace ccl_tests::acceptance {

using ccl_tests::headline_bytes;

// Makes a headline out of the check that decided: "FAIL node17: all_reduce 1G 231 of 360 GB/s". One
// line of at most headline_bytes that begins with the shown verdict, whatever the record holds.
std::string make_headline(const Record& record);

// Returns the record's own headline if it begins with the shown verdict, otherwise a made one. One
// line of at most headline_bytes.
std::string headline(const Record& record);

struct NextStep {
  std::string what;     // half a sentence
  std::string command;  // to type; empty: there is nothing to run
};

// Returns what the verdict asks for. The command begins with its launcher if the launcher is Open MPI's or MPICH's
// mpirun, or srun, and leaves out the hosts that the record excludes.
NextStep next_step(const Record& record);

}  // namespace ccl_tests::acceptance
