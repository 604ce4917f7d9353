// How a process proves over a connection that it belongs to a job, without sending the job's secret.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace ccl_tests {

// Returns the key of a job: all processes of the job have the same, others do not. `job` is what
// the launcher calls it, or nothing; `secret` is CCL_JOB_SECRET, or nothing.
std::string job_key(std::string_view job, std::string_view secret);

enum class Side { process, server };

// Returns what only those who have `key` can say for `nonce`.
std::string job_proof(const std::string& key, Side side, std::string_view nonce);

// Takes the same time wherever the texts differ.
bool are_equal(std::string_view a, std::string_view b);

std::string random_bytes(std::size_t count);
std::string random_hex(std::size_t digits);

}  // namespace ccl_tests
