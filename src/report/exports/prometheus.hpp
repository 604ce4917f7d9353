// Metrics of the last run.
#pragma once

#include <memory>
#include <string>

#include "src/report/reporter.hpp"

namespace ccl_tests {

// Writes `path` over what is there, unlike other results files, since who reads it knows one name: at once and in begin() that the
// run is incomplete, in end() all else. Throws UsageError if the path cannot be written; begin() and end() throw Error.
std::unique_ptr<Reporter> prometheus_reporter(const std::string& path);

}  // namespace ccl_tests
