// The settings of a run, from the declarations of the flags.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/core/agreement.hpp"
#include "src/core/collective.hpp"
#include "src/core/control_channel.hpp"
#include "src/job/job_setup.hpp"
#include "src/options/flag.hpp"
#include "src/options/options.hpp"

namespace ccl_tests {

// Returns what all ranks of a job must have been told alike, by the names of the flags.
std::vector<NamedValue> shared_settings(const Collective& collective, const Options& options);

// Returns the settings of the program for the headers of files, given or by default.
std::vector<Setting> recorded_settings(const Collective& collective, const Options& options);

// Returns those that are not the program's defaults and change what a row measures, but for those
// that rows have themselves (sizes, types), and those that say how often and how precisely.
std::vector<Setting> unusual_settings(const Collective& collective, const Options& options);

// Collective over all ranks. Returns the same on every rank: nothing, or a line that names the ranks which were given
// a file that nobody will write. Rank 0 writes the files of all flags that are declared so: another rank is refused if it has
// such a flag and rank 0 has not, and if rank 0 has another name and the rank's own file is there, since readers would take an
// earlier run's for this one's. limit_s: of the exchange.
std::optional<std::string> lost_files(ControlChannel& channel, double limit_s, const FlagSet& set);

// Collective over all ranks. Returns the same on every rank: nothing, or a line that names the
// ranks which were told something else. `more` is compared with the flags. Ends with lost_files().
std::optional<std::string> settings_disagreement(ControlChannel& channel,
                                                 const Collective& collective,
                                                 const Options& options, NamedValue more);

// Returns the part of the command line that is about the job. collective and options: outlive the result.
JobSetup job_setup(const Collective& collective, const Options& options,
                   const std::vector<std::string>& arguments);

}  // namespace ccl_tests
