// The name and identity of this machine.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ccl_tests {

// Its name; several may have the same.
std::string this_host();

// Its name, a blank and its machine_id(): equal on two ranks that are on one host. Containers and
// network namespaces of one kernel are hosts of their own.
std::string host_identity();

// Identity of the running kernel: equal on two ranks exactly when they are on one machine and so
// share CLOCK_MONOTONIC. `root`: where /proc is, for tests.
std::string machine_id(const std::string& root = "");

// Returns the free bytes of /dev/shm, which libraries share between ranks of a host; nullopt: there
// is none. A process that maps more ends by SIGBUS. A signal's handler may use it.
std::optional<std::uint64_t> free_shared_memory();

}  // namespace ccl_tests
