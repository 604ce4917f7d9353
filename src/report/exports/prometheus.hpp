// Metrics of the last run.
#pragma once

#include <memory>
#include <string>

#include "src/report/reporter.hpp"

namespace ccl_tests {

// Writes `path` when the run ends, over what is there: unlike other results files, since who reads
// it knows one name. Throws UsageError if the path cannot be written; end() throws Error.
std::unique_ptr<Reporter> prometheus_reporter(const std::string& path);

}  // namespace ccl_tests
