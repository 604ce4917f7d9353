#include "src/judge/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "src/record/quantity_text.hpp"
#include "src/record/row_text.hpp"

namespace ccl_tests {
namespace {

// Returns the time that is held to a limit in seconds.
JudgedTime time_of(const Measurement& cell, JudgedBy judged_by) {
  JudgedTime time = judged_time(cell, JudgedBy::interval);
  if (is_fast(cell, judged_by)) time.best = std::min(time.best, cell.stream->fast);
  return time;
}

// interval: "400.00 to 500.00"; value: "450.00 us".
std::string finding_text(const LimitFinding& found, const std::string& value,
                         const std::string& interval, const char* side) {
  if (found.verdict == LimitVerdict::kept) return {};
  if (found.verdict == LimitVerdict::missed)
    return fmt::format("too slow: {}: {} is {} {} {}", found.row, value, side, found.flag,
                       *found.limit);
  return fmt::format("not decided: {}: {}, {}, is on both sides of {} {}", found.row, value,
                     interval, found.flag, *found.limit);
}

std::string_view of_fast(const Measurement& cell, JudgedBy judged_by) {
  return is_fast(cell, judged_by) ? " (10th percentile)" : "";
}

LimitFinding bandwidth_finding(const SizeLimit& limit, std::string row, const Measurement& cell,
                               JudgedBy judged_by) {
  const JudgedTime time = time_of(cell, judged_by);
  const double bytes = cell.busbw * cell.seconds;  // those that the bandwidth is of
  const bool has_interval = cell.stream && time.best > 0;
  const auto bandwidth = [&](double seconds) {
    return has_interval ? bytes / seconds : cell.busbw;
  };
  LimitFinding found = {.flag = "--min-busbw", .row = std::move(row), .unit = "GB/s"};
  found.limit = limit.value;
  found.value = bandwidth(time.value);
  if (has_interval) {
    found.low = bandwidth(time.worst);
    found.high = bandwidth(time.best);
  }
  found.verdict =
      judge({-*found.value, -bandwidth(time.best), -bandwidth(time.worst)}, -limit.value);
  found.text =
      finding_text(found, fmt::format("busbw {} GB/s", digits_text(*found.value)),
                   fmt::format("{} to {}{}", digits_text(bandwidth(time.worst)),
                               digits_text(bandwidth(time.best)), of_fast(cell, judged_by)),
                   "below");
  return found;
}

LimitFinding time_finding(const SizeLimit& limit, std::string row, const Measurement& cell,
                          JudgedBy judged_by) {
  constexpr double us = 1e6;
  const JudgedTime time = time_of(cell, judged_by);
  LimitFinding found = {.flag = "--max-time", .row = std::move(row), .unit = "us"};
  found.limit = limit.value;
  found.value = time.value * us;
  if (cell.stream) {
    found.low = time.best * us;
    found.high = time.worst * us;
  }
  found.verdict = judge({time.value * us, time.best * us, time.worst * us}, limit.value);
  found.text = finding_text(
      found, fmt::format("{:.2f} us", *found.value),
      fmt::format("{:.2f}{} to {:.2f}", time.best * us, of_fast(cell, judged_by), time.worst * us),
      "above");
  return found;
}

bool same_number(double a, double b) { return std::abs(a - b) <= 1e-9 * std::abs(b); }

}  // namespace

JudgedBy judged_by(const RunInfo& info) {
  return info.oversubscribed && info.clock == "wall" ? JudgedBy::fast : JudgedBy::interval;
}

JudgeRule rule_of(JudgedBy judged_by, const std::optional<Repeatability>& repeats,
                  double precision) {
  return {judged_by, repeats && repeats_well(*repeats, precision)};
}

bool is_fast(const Measurement& cell, JudgedBy judged_by) {
  if (judged_by != JudgedBy::fast || !cell.stream || cell.stream->fast <= 0) return false;
  return !same_number(cell.stream->mean, cell.seconds);  // a median, or that percentile
}

JudgedTime judged_time(const Measurement& cell, JudgedBy judged_by) {
  const double value = cell.seconds;
  if (!cell.stream) return {value, value, value};
  const StreamTimes& stream = *cell.stream;
  if (is_fast(cell, judged_by) && !same_number(stream.fast, value))  // ranks did not wait then
    return {stream.fast, stream.fast, stream.fast};
  return {value, stream.low.value_or(value), stream.high.value_or(value)};
}

LimitVerdict judge(const JudgedTime& number, double limit) {
  if (number.worst <= limit) return LimitVerdict::kept;
  return number.best > limit ? LimitVerdict::missed : LimitVerdict::undecided;
}

std::vector<LimitFinding> held_to(const Limits& limits, const Row& row, bool in_place,
                                  std::size_t requested, JudgedBy judged_by) {
  const Measurement& cell = in_place ? row.in_place : row.out_of_place;
  const std::string place = row_place(row, requested, placement_words(in_place));
  std::vector<LimitFinding> found;
  const auto add = [&](const std::vector<SizeLimit>& some, auto finding) {
    for (const SizeLimit& limit : some)
      if (limit.bytes == requested && includes(limit.times, in_place))
        found.push_back(finding(limit, place, cell, judged_by));
  };
  add(limits.min_busbw, bandwidth_finding);
  add(limits.max_time, time_finding);
  return found;
}

std::vector<LimitFinding> unmeasured(const Limits& limits, const std::set<std::size_t>& measured) {
  std::vector<LimitFinding> all;
  const auto add = [&](const std::vector<SizeLimit>& some, const char* flag, const char* unit) {
    for (const SizeLimit& limit : some) {
      if (measured.contains(limit.bytes)) continue;
      LimitFinding found = {.verdict = LimitVerdict::missed, .flag = flag, .unit = unit};
      found.limit = limit.value;
      found.text = fmt::format("not measured: {} B, which {} names", limit.bytes, flag);
      all.push_back(std::move(found));
    }
  };
  add(limits.min_busbw, "--min-busbw", "GB/s");
  add(limits.max_time, "--max-time", "us");
  return all;
}

std::optional<LimitFinding> held_to_average(const Limits& limits, double average_busbw) {
  constexpr double average_slack = 0.9;  // nccl-tests fails below 0.9 x NCCL_TESTS_MIN_BW
  if (!limits.min_average_busbw) return std::nullopt;
  const double limit = *limits.min_average_busbw;
  LimitFinding found = {.flag = std::string(average_limit), .unit = "GB/s"};
  found.limit = limit;
  found.value = average_busbw;
  if (average_busbw >= average_slack * limit) return found;
  found.verdict = LimitVerdict::missed;
  found.text =
      fmt::format("too slow: the average busbw, {:.4g} GB/s, is below 0.9 x NCCL_TESTS_MIN_BW {}",
                  average_busbw, limit);
  return found;
}

std::vector<std::string> limit_lines(const std::vector<LimitFinding>& limits,
                                     LimitVerdict verdict) {
  std::vector<std::string> lines;
  for (const LimitFinding& limit : limits)
    if (limit.verdict == verdict) lines.push_back(limit.text);
  return lines;
}

}  // namespace ccl_tests
