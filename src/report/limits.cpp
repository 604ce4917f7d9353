#include "src/report/limits.hpp"

#include <fmt/format.h>

#include <cmath>

#include "src/report/row_text.hpp"

namespace ccl_tests {
namespace {

constexpr double average_slack = 0.9;  // nccl-tests fails below 0.9 x NCCL_TESTS_MIN_BW

// What a limit is compared with; seconds or their reciprocal.
struct Range {
  double value, best, worst;
};

// Of a time, in seconds.
Range times_of(const Measurement& cell, JudgedBy judged_by, double moments) {
  const double value = cell.seconds;
  if (!cell.stream) return {value, value, value};
  if (judged_by == JudgedBy::fast) return {cell.stream->fast, cell.stream->fast, cell.stream->fast};
  if (value <= 0) return {value, value, value};
  const double below = std::log(value / cell.stream->low.value_or(value));
  const double above = std::log(cell.stream->high.value_or(value) / value);
  return {value, value * std::exp(-std::hypot(below, moments)),
          value * std::exp(std::hypot(above, moments))};
}

Range bandwidths_of(const Measurement& cell, JudgedBy judged_by, double moments) {
  const Range times = times_of(cell, judged_by, moments);
  if (!cell.stream || times.best <= 0) return {cell.busbw, cell.busbw, cell.busbw};
  const double bytes = cell.busbw * cell.seconds;  // those that the bandwidth is of
  return {bytes / times.value, bytes / times.best, bytes / times.worst};
}

void hold(LimitFindings& found, const Limits& limits, const std::string& subject,
          const Measurement& cell, std::size_t requested, JudgedBy judged_by, double moments) {
  for (const SizeLimit& limit : limits.min_busbw) {
    const Range range = bandwidths_of(cell, judged_by, moments);
    if (limit.bytes != requested || range.worst >= limit.value) continue;
    if (range.best < limit.value) {
      found.missed.push_back(fmt::format("too slow: {}: busbw {:.4f} GB/s is below --min-busbw {}",
                                         subject, range.value, limit.value));
    } else {
      found.undecided.push_back(
          fmt::format("not decided: {}: busbw {:.4f} GB/s, {:.4f} to {:.4f}, is on both sides of "
                      "--min-busbw {}",
                      subject, range.value, range.worst, range.best, limit.value));
    }
  }
  for (const SizeLimit& limit : limits.max_time) {
    const Range range = times_of(cell, judged_by, moments);
    constexpr double us = 1e6;
    if (limit.bytes != requested || range.worst * us <= limit.value) continue;
    if (range.best * us > limit.value) {
      found.missed.push_back(fmt::format("too slow: {}: {:.2f} us is above --max-time {}", subject,
                                         range.value * us, limit.value));
    } else {
      found.undecided.push_back(
          fmt::format("not decided: {}: {:.2f} us, {:.2f} to {:.2f}, is on both sides of "
                      "--max-time {}",
                      subject, range.value * us, range.best * us, range.worst * us, limit.value));
    }
  }
}

}  // namespace

LimitFindings held_to(const Limits& limits, const Row& row, std::size_t requested,
                      JudgedBy judged_by, double moments) {
  LimitFindings found;
  const std::string what = row_name(row, requested);
  hold(found, limits, what + " out of place", row.out_of_place, requested, judged_by, moments);
  hold(found, limits, what + " in place", row.in_place, requested, judged_by, moments);
  return found;
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
