// Who is gone, and who is late, out of the words of a failure.
#pragma once

#include <string>
#include <vector>

namespace ccl_tests::acceptance {

// Returns the names of the hosts of which `errors` (the lines of a job that failed) say that a process there
// is gone or shows no sign of life, each once. Who lives and does not come to an exchange may wait for another.
std::vector<std::string> lost_hosts(const std::vector<std::string>& errors);

// Returns what they say that ranks did when a wait reached its limit, in words, the fewest ranks first: others wait for
// these. Empty: they do not say it.
std::string late_ranks(const std::vector<std::string>& errors);

// Whether they say so of the process of rank 0.
bool lost_rank_0(const std::vector<std::string>& errors);

}  // namespace ccl_tests::acceptance
