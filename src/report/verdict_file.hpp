// The files in which a run leaves its verdict for programs: --verdict, and Kubernetes' termination log.
#pragma once

#include <memory>
#include <string>

#include "src/report/reporter.hpp"

namespace ccl_tests {

// One JSON object: "line" (headline.hpp), "run" (what tells runs apart), and all members of the footer of JSON
// Lines. What is there is written over at once: until the run ends, its verdict is "incomplete". Throws
// UsageError if the file cannot be written; end() throws Error.
std::unique_ptr<Reporter> verdict_reporter(const std::string& path);

// Writes the headline and what is known of a failure to `path`: at most 4096 bytes, what Kubernetes keeps of
// /dev/termination-log. Until the run ends it says that the run has not reached its end. A file that cannot be written is left: nobody asked.
std::unique_ptr<Reporter> termination_reporter(const std::string& path);
inline constexpr const char* termination_log = "/dev/termination-log";

// Whether a pod's termination log is there.
bool has_termination_log();

}  // namespace ccl_tests
