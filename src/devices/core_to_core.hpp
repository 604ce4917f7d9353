// A probe of the machine's state. On some virtual machines the time that two cores need to exchange
// a cache line changes several times, for seconds to a minute.
#pragma once

#include <optional>

namespace ccl_tests {

// Returns the seconds of a round trip between two threads on different CPUs of this thread's mask,
// the median of batches over `duration` seconds. Returns nullopt if the thread has one CPU only or
// the system gives it no thread.
std::optional<double> core_to_core(double duration = 0.02);

// Returns whether two probes differ by at most `limit` times. Probes that are absent do not differ.
bool same_state(std::optional<double> before, std::optional<double> after, double limit = 1.5);

}  // namespace ccl_tests
