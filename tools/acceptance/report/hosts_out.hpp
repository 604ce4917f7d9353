// The hosts to leave out, as a scheduler takes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ccl_tests::acceptance {

// lines: a name a line. slurm: the option itself, --exclude=node3,node17, so that
// `sbatch $(cat FILE) job.sh` also works if nothing is excluded and the file is empty.
enum class HostsFormat { lines, slurm };

// Returns the format of that name. Throws UsageError.
HostsFormat hosts_format(std::string_view name);

// Returns the file's text, empty for no names. Throws Error for a name that is not a host's: letters,
// digits, '.', '_', '-', not '-' first.
std::string hosts_text(const std::vector<std::string>& names, HostsFormat format);

}  // namespace ccl_tests::acceptance
