// What both loops need: buffers, and stamps (when every so many calls were done). Contains nothing of the
// suite.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <vector>

// Begins at a page, as buffers of OSU's and IMB's benchmarks do. For free().
inline float* floats_at_page(std::size_t bytes, float value) {
  constexpr std::size_t page = 4096;
  const std::size_t room = (bytes + page - 1) / page * page;
  auto* const data = static_cast<float*>(std::aligned_alloc(page, room));
  std::fill(data, data + bytes / sizeof(float), value);
  return data;
}

// The fastest 10th percentile of 20 stretches of the run: where threads wait for CPUs, a stretch that the
// scheduler left alone.
inline double best_of_stretches(const std::vector<double>& times) {
  constexpr std::size_t stretches = 20;
  const std::size_t length = std::max<std::size_t>(times.size() / stretches, 1);
  double best = times.front();
  for (std::size_t begin = 0; begin + length <= times.size(); begin += length) {
    std::vector<double> stretch(times.begin() + static_cast<std::ptrdiff_t>(begin),
                                times.begin() + static_cast<std::ptrdiff_t>(begin + length));
    std::sort(stretch.begin(), stretch.end());
    best = begin == 0 ? stretch[length / 10] : std::min(best, stretch[length / 10]);
  }
  return best;
}

// Seconds per call from the clock's readings behind every `calls` calls.
inline void print_stamps(const char* library, std::size_t bytes,
                         const std::vector<double>& readings, int calls) {
  std::vector<double> times;
  for (std::size_t i = 1; i < readings.size(); ++i)
    times.push_back((readings[i] - readings[i - 1]) / calls);
  const double best = best_of_stretches(times);
  std::sort(times.begin(), times.end());
  const double total = readings.back() - readings.front();
  std::printf(
      "%s %zu median_us %.4f p10_us %.4f best_us %.4f mean_us %.4f seconds %.2f stamps %zu\n",
      library, bytes, times[times.size() / 2] * 1e6, times[times.size() / 10] * 1e6, best * 1e6,
      total / (static_cast<double>(times.size()) * calls) * 1e6, total, times.size());
}
