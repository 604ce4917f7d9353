// A gang of Kubernetes pods as NVSentinel's preflight checks describe it: a folder of files, mounted
// from a ConfigMap, that fills as pods register (NVSentinel, preflight-checks, gang coordination).
#pragma once

#include <optional>
#include <string>

#include "src/bootstrap/launch.hpp"

namespace ccl_tests {

// Returns the folder of "gang:FOLDER" (--launcher); nullopt: another launcher.
std::optional<std::string> gang_folder(const std::string& launcher);

// Waits until the files expected_count, master_addr and peers (lines of "pod;ip;rank") know as many pods
// as expected; master_port is 29500 if it is not there. This process is the pod that POD_NAME says. Throws
// Timeout after limit_s seconds (0: no limit), naming what is missing, and UsageError if a file cannot
// be understood or the pod is not in the gang. log: of a WaitNotice.
Launch gang_launch(const std::string& folder, const Environment& environment, double limit_s,
                   const std::function<void(std::string_view)>& log);

}  // namespace ccl_tests
