// Nanoseconds of a round trip between two cores: two threads hand a number to each other, median of
// 200 batches. Virtual machines have states that differ by four times. Contains nothing of the suite.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <thread>
#include <vector>

int main() {
  constexpr int batches = 200;
  constexpr int round_trips = 1000;
  std::atomic<int> number{0};
  std::thread other([&] {
    for (int k = 0; k < batches * round_trips; ++k) {
      while (number.load(std::memory_order_acquire) != 2 * k + 1) {
      }
      number.store(2 * k + 2, std::memory_order_release);
    }
  });
  std::vector<double> times;
  int k = 0;
  for (int b = 0; b < batches; ++b) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < round_trips; ++i, ++k) {
      number.store(2 * k + 1, std::memory_order_release);
      while (number.load(std::memory_order_acquire) != 2 * k + 2) {
      }
    }
    const std::chrono::duration<double, std::nano> took = std::chrono::steady_clock::now() - start;
    times.push_back(took.count() / round_trips);
  }
  other.join();
  std::sort(times.begin(), times.end());
  std::printf("%.0f\n", times[times.size() / 2]);
}
