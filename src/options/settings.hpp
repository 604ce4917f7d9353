// What a run was asked for, from the declarations of the flags.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/core/agreement.hpp"
#include "src/core/control_channel.hpp"
#include "src/options/flag.hpp"
#include "src/options/options.hpp"

namespace ccl_tests {

// Returns what all ranks of a job must have been told alike, by the names of the flags.
std::vector<NamedValue> shared_settings(const Collective& collective, const Options& options);

// Returns the settings of the program for the headers of files, given or by default.
std::vector<Setting> recorded_settings(const Collective& collective, const Options& options);

// Collective over all ranks. Returns the same on every rank: nothing, or a line that names the
// ranks which were told something else. `more` is compared with the flags. A -J that rank 0 was not
// given is an error: no file would be written.
std::optional<std::string> settings_disagreement(ControlChannel& channel,
                                                 const Collective& collective,
                                                 const Options& options, NamedValue more);

}  // namespace ccl_tests
