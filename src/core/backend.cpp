#include "src/core/backend.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "src/core/error.hpp"

namespace ccl_tests {

std::optional<std::string> BackendOptions::get(const std::string& key) const {
  const auto found = own.find(key);
  if (found == own.end()) return std::nullopt;
  return found->second;
}

bool Backend::open_library(const std::string& file) const {
  const LoadableLibrary* const library = loadable_library();
  if (library != nullptr) library->open(file);
  return library != nullptr;
}
void Backend::start(const BackendOptions& options) const {
  if (const NativeLauncher* const launcher = native_launcher()) launcher->start(options);
}
void Backend::finish() const {
  if (const NativeLauncher* const launcher = native_launcher()) launcher->finish();
}
std::string Backend::from_process_0(const std::string& bytes, int processes) const {
  const NativeLauncher* const launcher = native_launcher();
  if (launcher == nullptr) throw Unsupported(name() + " has no launcher of its own");
  return launcher->from_process_0(bytes, processes);
}

void check_options(const Backend& backend, const BackendOptions& options) {
  const BackendInfo info = backend.info();
  const std::vector<std::string>& keys = info.option_keys;
  for (const auto& [key, value] : options.own) {
    if (std::find(keys.begin(), keys.end(), key) != keys.end()) continue;
    throw UsageError(fmt::format("--backend-option {}={}: {} has no such option; accepted: {}", key,
                                 value, info.name,
                                 keys.empty() ? "none" : fmt::format("{}", fmt::join(keys, ", "))));
  }
  if (!options.mpi_thread.empty() && backend.native_launcher() == nullptr)
    throw UsageError(
        fmt::format("--mpi-thread: {} is not MPI; accepted: with --backend mpi", info.name));
  backend.check(options);
}

}  // namespace ccl_tests
