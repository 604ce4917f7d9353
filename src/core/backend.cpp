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

std::string Backend::from_process_0(const std::string& /*bytes*/, int /*processes*/) const {
  throw Unsupported(name() + " has no launcher of its own");
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
  if (!options.mpi_thread.empty() && !info.one_rank_per_process)
    throw UsageError(
        fmt::format("--mpi-thread: {} is not MPI; accepted: with --backend mpi", info.name));
  backend.check(options);
}

}  // namespace ccl_tests
