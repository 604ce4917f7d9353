#include "src/devices/core_to_core.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <system_error>
#include <vector>

#include "src/core/clock.hpp"
#include "src/measure/statistics.hpp"

namespace ccl_tests {
namespace {

constexpr std::size_t least_batches = 9;  // so that a thread that loses its CPU once is no median
constexpr int round_trips = 20;           // of a batch, between two readings of the clock

// Returns the first two CPUs that this thread may run on, or fewer. The list in /proc also has those
// that a virtual machine could get.
std::vector<int> two_cpus() {
  std::vector<int> cpus;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (::sched_getaffinity(0, sizeof(mask), &mask) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE && cpus.size() < 2; ++cpu)
    if (CPU_ISSET(cpu, &mask)) cpus.push_back(cpu);
  return cpus;
}

void stay_on(int cpu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(cpu, &mask);
  ::pthread_setaffinity_np(::pthread_self(), sizeof(mask), &mask);
}

class Exchange {
 public:
  // Answers each odd number with the next even one, until stopped.
  void answer(int cpu) {
    stay_on(cpu);
    unsigned next = 1;
    while (true) {
      unsigned now = number_.load(std::memory_order_acquire);
      while (now != next && now != stop) now = number_.load(std::memory_order_acquire);
      if (now == stop) return;
      number_.store(now + 1, std::memory_order_release);
      next += 2;
    }
  }

  // Returns seconds of a round trip, one value a batch.
  std::vector<double> ask(int cpu, double duration) {
    stay_on(cpu);
    std::vector<double> batches;
    const double end = monotonic_seconds() + duration;
    unsigned next = 1;
    for (double start = 0; batches.size() < least_batches || start < end;) {
      start = monotonic_seconds();
      for (int i = 0; i < round_trips; ++i, next += 2) {
        number_.store(next, std::memory_order_release);
        while (number_.load(std::memory_order_acquire) != next + 1) {
        }
      }
      batches.push_back((monotonic_seconds() - start) / round_trips);
    }
    number_.store(stop, std::memory_order_release);
    return batches;
  }

 private:
  static constexpr unsigned stop = ~0U - 1;  // even, so that it is no question
  std::atomic<unsigned> number_{0};
};

}  // namespace

std::optional<double> core_to_core(double duration) {
  const std::vector<int> cpus = two_cpus();
  if (cpus.size() < 2) return std::nullopt;
  try {
    // Both threads are made for the probe, so that the caller keeps its CPUs.
    return std::async(std::launch::async,
                      [&] {
                        Exchange exchange;
                        const auto answering =
                            std::async(std::launch::async, [&] { exchange.answer(cpus[1]); });
                        return median(exchange.ask(cpus[0], duration));
                      })
        .get();
  } catch (const std::system_error&) {  // the system gives no more threads
    return std::nullopt;
  }
}

bool same_state(std::optional<double> before, std::optional<double> after, double limit) {
  if (!before || !after) return true;
  return std::max(*before, *after) <= limit * std::min(*before, *after);
}

}  // namespace ccl_tests
