// Stamps of a loop: when every so many calls were done. Contains nothing of the suite.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <vector>

// Seconds per call from the clock's readings behind every `calls` calls.
inline void print_stamps(const char* library, std::size_t bytes,
                         const std::vector<double>& readings, int calls) {
  std::vector<double> times;
  for (std::size_t i = 1; i < readings.size(); ++i)
    times.push_back((readings[i] - readings[i - 1]) / calls);
  std::sort(times.begin(), times.end());
  const double total = readings.back() - readings.front();
  std::printf("%s %zu median_us %.4f p10_us %.4f mean_us %.4f seconds %.2f stamps %zu\n", library,
              bytes, times[times.size() / 2] * 1e6, times[times.size() / 10] * 1e6,
              total / (static_cast<double>(times.size()) * calls) * 1e6, total, times.size());
}
