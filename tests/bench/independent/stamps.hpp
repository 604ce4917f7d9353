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
