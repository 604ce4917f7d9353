#include "src/report/open_files.hpp"

#include <fmt/format.h>

#include <memory>

#include "src/core/error.hpp"
#include "src/report/verdict_file.hpp"

namespace ccl_tests {
namespace {

// Says which file it is if the name was taken.
std::unique_ptr<Reporter> open_file(const std::string& path,
                                    const std::function<void(const std::string&)>& log) {
  std::string opened;
  auto reporter = [&] {
    try {
      return file_reporter(path, &opened);
    } catch (const UsageError& e) {
      throw UsageError(
          fmt::format("-J: {}; accepted: a writable {} file", e.what(), accepted_suffixes));
    }
  }();
  if (opened != path) log(fmt::format("-J: {} exists; writing {}", path, opened));
  return reporter;
}

}  // namespace

void open_files(RunResults& results, const Options& options,
                const std::function<void(const std::string& line)>& log) {
  const OutputOptions& o = options.output;
  for (const std::string& file : o.files) results.add(open_file(file, log));
  for (const std::string& file : {o.verdict, o.monitor_verdict})
    if (!file.empty()) results.add(verdict_reporter(file));
  if (has_termination_log()) results.add(termination_reporter(termination_log));
  results.add(table_reporter(stdout));
}

void mark_unfinished(const OutputOptions& options) {
  const auto none = [](const std::string& /*line*/) {};
  for (const std::string& file : options.files)
    if (replaces_file(file)) open_file(file, none);
  if (!options.verdict.empty()) verdict_reporter(options.verdict);
}

}  // namespace ccl_tests
