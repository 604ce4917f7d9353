// The files of a run, from its options.
#pragma once

#include <functional>
#include <string>

#include "src/report/run_results.hpp"

namespace ccl_tests {

// Opens all files for results that the options name, and standard output behind them. What an earlier run has left under a
// name that is written over (--verdict, .prom) says from now on that the run has not reached its end. log: is given a line if
// the name of a file was taken. Throws UsageError.
void open_files(RunResults& results, const Options& options,
                const std::function<void(const std::string& line)>& log);

// Marks what is written over, as open_files() does, for a start that may fail before that. Throws UsageError.
void mark_unfinished(const OutputOptions& options);

}  // namespace ccl_tests
