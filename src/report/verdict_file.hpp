// A run in one line, and the files in which it leaves its verdict for programs: --verdict, and Kubernetes' termination log.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "src/report/reporter.hpp"

namespace ccl_tests {

// The part of a plugin's output that Node Problem Detector keeps (and a pager shows).
inline constexpr std::size_t headline_bytes = 80;

// Returns why the run does not show what it was asked for, limits aside. Empty: it does.
std::string why_inconclusive(const RunSummary& summary);

// Returns what the run showed, not cut: "24 rows right, peak 12.3 GB/s at 64 MiB", "too slow: 8 B
// float ...".
std::string outcome(const RunSummary& summary);

// Returns the program and the outcome: "all_reduce_perf: 24 rows right, ...".
std::string headline(const RunInfo& run, const RunSummary& summary);

// One JSON object: "line" (headline.hpp), "run" (what tells runs apart), and all members of the footer of JSON
// Lines. What is there is written over at once: until the run ends, its verdict is "incomplete". Throws
// UsageError if the file cannot be written; end() throws Error.
std::unique_ptr<Reporter> verdict_reporter(const std::string& path);

// Writes the headline and what is known of a failure to `path`: at most 4096 bytes, what Kubernetes keeps of
// /dev/termination-log. Until the run ends it says that the run has not reached its end. A file that cannot be written is left: nobody asked.
std::unique_ptr<Reporter> termination_reporter(const std::string& path);
inline constexpr const char* termination_log = "/dev/termination-log";

// Returns whether a pod's termination log is there.
bool has_termination_log();

}  // namespace ccl_tests
