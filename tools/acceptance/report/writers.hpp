// Writes a record: for the terminal, as JUnit, as a page, and as a list of hosts.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tools/acceptance/record.hpp"

namespace ccl_tests::acceptance {

// Returns the headline, the stages, what is wrong and what to do next. file: the verdict file, which has what is not
// shown; empty: there is none.
std::string terminal_text(const Record& record, const std::string& file = {});

// Returns a JUnit document: a suite for each stage, a case for each check, and one for the run's own verdict, so that a
// run that did not end is never green. FAIL is a failure, INCONCLUSIVE an error; WARN passes with its text as output.
std::string junit_text(const Record& record);

// Returns page.html with the record's verdict file as data, which a script of the page draws; without scripts it is the
// text of the terminal. The page loads nothing, follows the reader's light or dark scheme, and prints on A4.
std::string html_page(const Record& record);

// The forms of a list of hosts. lines: a name a line. slurm: the option itself, --exclude=node3,node17, so that
// `sbatch $(cat FILE) job.sh` also works if nothing is excluded and the file is empty.
enum class HostsFormat { lines, slurm };

// Returns the format of that name. Throws UsageError.
HostsFormat hosts_format(std::string_view name);

// Returns the file's text, empty for no names. Throws Error for a name that is not a host's: letters,
// digits, '.', '_', '-', not '-' first.
std::string hosts_text(const std::vector<std::string>& names, HostsFormat format);

}  // namespace ccl_tests::acceptance
