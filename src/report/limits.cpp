#include "src/report/limits.hpp"

#include <fmt/format.h>

#include "src/report/row_text.hpp"

namespace ccl_tests {
namespace {

constexpr double average_slack = 0.9;  // nccl-tests fails below 0.9 x NCCL_TESTS_MIN_BW

void add_misses(std::vector<std::string>& lines, const Limits& limits, const std::string& subject,
                const Measurement& cell, std::size_t requested) {
  for (const SizeLimit& limit : limits.min_busbw) {
    if (limit.bytes != requested || cell.busbw >= limit.value) continue;
    lines.push_back(fmt::format("too slow: {}: busbw {:.4f} GB/s is below --min-busbw {}", subject,
                                cell.busbw, limit.value));
  }
  const double us = cell.seconds * 1e6;
  for (const SizeLimit& limit : limits.max_time) {
    if (limit.bytes != requested || us <= limit.value) continue;
    lines.push_back(
        fmt::format("too slow: {}: {:.2f} us is above --max-time {}", subject, us, limit.value));
  }
}

}  // namespace

std::vector<std::string> missed_by(const Limits& limits, const Row& row, std::size_t requested) {
  std::vector<std::string> lines;
  const std::string what = row_name(row, requested);
  add_misses(lines, limits, what + " out of place", row.out_of_place, requested);
  add_misses(lines, limits, what + " in place", row.in_place, requested);
  return lines;
}

std::vector<std::string> unmeasured(const Limits& limits, const std::set<std::size_t>& measured) {
  std::vector<std::string> lines;
  const auto add = [&](const std::vector<SizeLimit>& some, const char* flag) {
    for (const SizeLimit& limit : some) {
      if (measured.contains(limit.bytes)) continue;
      lines.push_back(fmt::format("not measured: {} B, which {} names", limit.bytes, flag));
    }
  };
  add(limits.min_busbw, "--min-busbw");
  add(limits.max_time, "--max-time");
  return lines;
}

std::optional<bool> average_suffices(const Limits& limits, double average_busbw) {
  if (!limits.min_average_busbw) return std::nullopt;
  return average_busbw >= average_slack * *limits.min_average_busbw;
}

}  // namespace ccl_tests
