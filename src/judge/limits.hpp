// Holds the times of a row to its limits. Pure.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/record/record.hpp"

namespace ccl_tests {

// interval: a limit is missed if all of the time's interval lies beyond, and undecided if it lies
// within; without an interval the time is judged. fast: ranks wait for CPUs, and no number repeats
// but the 10th percentile of the stamps (docs/METHOD.md). It is compared with that of earlier runs,
// and a limit in seconds is missed only if it is, too. Means are judged by interval.
enum class JudgedBy { interval, fast };
// Returns by which number of several runs is judged.
JudgedBy judged_by(const RunInfo& info);

// The rule by which times are held to limits.
struct JudgeRule {
  JudgedBy judged_by = JudgedBy::interval;
  // True if times that were measured again agree. If not, one earlier run decides nothing.
  bool repeats = true;
};

// Returns how times of a run are held, by how far they repeat (absent: no time was measured again)
// and by the --precision that was asked for.
JudgeRule rule_of(JudgedBy judged_by, const std::optional<Repeatability>& repeats,
                  double precision);

// A time in seconds, and the ends of its interval by which it is judged.
struct JudgedTime {
  double value = 0, best = 0, worst = 0;
};
JudgedTime judged_time(const Measurement& cell, JudgedBy judged_by);  // beside another time
// Returns whether that is the 10th percentile.
bool is_fast(const Measurement& cell, JudgedBy judged_by);

// Returns the verdict about a number of which smaller ones are better.
LimitVerdict judge(const JudgedTime& number, double limit);

// Returns what each of the size limits (--min-busbw, --max-time) of a time says of it.
std::vector<LimitFinding> held_to(const Limits& limits, const Row& row, bool in_place,
                                  std::size_t requested, JudgedBy judged_by = JudgedBy::interval);

// Returns, as missed, each size limit whose size is not among the requested sizes of the rows.
std::vector<LimitFinding> unmeasured(const Limits& limits, const std::set<std::size_t>& measured);

// LimitFinding::flag of the average's limit.
inline constexpr std::string_view average_limit = "NCCL_TESTS_MIN_BW";
// Returns what the limit of the average says, with nccl-tests' slack of 10 %. nullopt: no limit.
std::optional<LimitFinding> held_to_average(const Limits& limits, double average_busbw);

}  // namespace ccl_tests
