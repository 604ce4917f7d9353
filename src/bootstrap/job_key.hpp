// The members of a job: its key, the check of whoever connects, and the words for a refusal.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "src/bootstrap/control_frame.hpp"

namespace ccl_tests {

// Returns the key of a job: all processes of the job have the same, others do not. `job` is what
// the launcher calls it, or nothing; `secret` is CCL_JOB_SECRET, or nothing.
std::string job_key(std::string_view job, std::string_view secret);

enum class Side { process, server };

// Returns what only those who have `key` can say for `nonce`.
std::string job_proof(const std::string& key, Side side, std::string_view nonce);

// Takes the same time wherever the texts differ.
bool are_equal(std::string_view a, std::string_view b);

std::string random_hex(std::size_t digits);

// Returns "a, b, c and 5 more".
std::string join_names(const std::vector<std::string>& names);

// Return whether processes that say so can be in one job.
bool agree(const Hello& a, const Hello& b);
bool agree_but_for_flags(const Hello& a, Hello b);

// Returns the first thing that `hello` has otherwise: "WORLD_SIZE is 4, on rank 0 on a (pid 1) it is
// 3". Empty if they agree.
std::string difference(const Hello& hello, const Hello& from);

// Returns a line that names the processes which differ from the most others, with the first thing
// that each has otherwise. `all`: not empty.
std::string disagreement(std::vector<Hello> all);

// Returns "rank 2 exists twice: on a (pid 1) and on b (pid 2)", and how that comes.
std::string twice(const Hello& a, const Hello& b);

}  // namespace ccl_tests
