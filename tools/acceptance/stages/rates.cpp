#include "tools/acceptance/stages/rates.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "src/options/values.hpp"
#include "src/record/row_text.hpp"
#include "tools/acceptance/report/words.hpp"

namespace ccl_tests::acceptance {
namespace {

constexpr double bytes_in_gb = 1e9;

// The first finding in either placement; empty: none.
std::string wrong_text(const Row& row) {
  for (const Measurement* cell : {&row.out_of_place, &row.in_place})
    if (!cell->mismatches.empty()) return mismatch_text(cell->mismatches.front());
  return {};
}

std::vector<Number> numbers_of(const BusBandwidth& found) {
  std::vector<Number> numbers;
  if (found.value > 0) {
    numbers.push_back({"busbw", found.value, "B/s"});
    numbers.push_back({"busbw_low", found.low, "B/s"});
    numbers.push_back({"busbw_high", found.high, "B/s"});
  }
  numbers.push_back({"time", found.seconds, "s"});
  return numbers;
}

// "100 of 120 GB/s", "3.2 kB/s of 120 GB/s".
std::string share_text(double value, double limit) {
  const std::string reached = rate_text(value), wanted = rate_text(limit);
  const auto unit = [](const std::string& text) { return text.substr(text.find(' ')); };
  const bool same = unit(reached) == unit(wanted);
  return fmt::format("{} of {}", same ? reached.substr(0, reached.find(' ')) : reached, wanted);
}

}  // namespace

BusBandwidth bus_bandwidth(const Row& row) {
  const Measurement* best = &row.out_of_place;
  const Measurement& other = row.in_place;
  if (!other.repeats_out_of_place && other.seconds > 0 && other.seconds < best->seconds)
    best = &other;
  BusBandwidth found{.value = best->busbw * bytes_in_gb, .seconds = best->seconds};
  const bool interval = best->stream && best->stream->low && best->stream->high;
  found.seconds_low = interval ? *best->stream->low : found.seconds;
  found.seconds_high = interval ? *best->stream->high : found.seconds;
  found.low = found.seconds_high > 0 ? found.value * found.seconds / found.seconds_high : 0;
  found.high = found.seconds_low > 0 ? found.value * found.seconds / found.seconds_low : 0;
  return found;
}

const RateLimit* limit_of(const Plan& plan, std::string_view stage, std::string_view program,
                          std::size_t bytes) {
  const RateLimit* any_size = nullptr;
  for (const RateLimit& limit : plan.limits) {
    const bool meant = limit.stage == stage || (limit.stage == "full" && stage == "rest");
    if (!meant || limit.program != program) continue;
    if (limit.bytes == bytes) return &limit;
    if (limit.bytes == 0) any_size = &limit;
  }
  return any_size;
}

Check judged_row(const Plan& plan, const std::string& stage, const std::string& subject,
                 std::string_view program, std::size_t bytes, const Row& row) {
  const BusBandwidth found = bus_bandwidth(row);
  const std::string what = fmt::format("{} {}", program, size_text(bytes));
  Check check{.id = fmt::format("{}/{}/{}/{}", stage, subject, program, bytes),
              .stage = stage,
              .subject = subject,
              .numbers = numbers_of(found)};
  const auto says = [&](Verdict verdict, const char* reason, std::string text) {
    check.verdict = verdict;
    check.reason = reason;
    check.text = std::move(text);
    return check;
  };
  if (const std::string wrong = wrong_text(row); !wrong.empty())
    return says(Verdict::fail, "WRONG_DATA", fmt::format("{}: wrong: {}", what, wrong));
  if (found.seconds <= 0)
    return says(Verdict::inconclusive, "NOT_MEASURED", what + ": there is no time");
  const std::string reached = fmt::format("{} {}", what, rate_text(found.value));
  const RateLimit* const limit = limit_of(plan, stage, program, bytes);
  if (limit == nullptr) return says(Verdict::skipped, "NO_LIMIT", reached + ", no limit given");
  const double least = limit->min_busbw > 0 ? limit->min_busbw : limit->warn_busbw;
  if (least > 0) check.numbers.push_back({"limit", least, "B/s"});
  if (limit->max_time_s > 0) check.numbers.push_back({"limit", limit->max_time_s, "s"});
  if (least > 0 && found.value <= 0)
    return says(Verdict::inconclusive, "NO_BANDWIDTH",
                what + ": no data leave a rank, so there is no bus bandwidth");
  struct Line {
    double limit;
    Verdict verdict;
    const char* reason;
  };
  for (const Line& line : {Line{limit->min_busbw, Verdict::fail, "TOO_SLOW"},
                           Line{limit->warn_busbw, Verdict::warn, "SLOW"}}) {
    if (line.limit <= 0 || found.low >= line.limit) continue;
    if (found.high < line.limit)
      return says(line.verdict, line.reason,
                  fmt::format("{} {}", what, share_text(found.value, line.limit)));
    return says(Verdict::inconclusive, "TOO_NOISY",
                fmt::format("{} {} to {}, the limit {} is in between", what, rate_text(found.low),
                            rate_text(found.high), rate_text(line.limit)));
  }
  if (limit->max_time_s > 0 && found.seconds_high > limit->max_time_s) {
    const bool surely = found.seconds_low > limit->max_time_s;
    return says(surely ? Verdict::fail : Verdict::inconclusive, surely ? "TOO_SLOW" : "TOO_NOISY",
                fmt::format("{} {} of {} at most", what, number_text({"time", found.seconds, "s"}),
                            number_text({"limit", limit->max_time_s, "s"})));
  }
  return says(Verdict::pass, "OK", reached);
}

Check nvlink_check(const std::string& host, double busbw, double links, double efficiency) {
  const double limit = efficiency * links;
  Check check{.id = "node/nvlink/" + host,
              .subject = "host " + host,
              .verdict = busbw >= limit ? Verdict::pass : Verdict::inconclusive,
              .reason = busbw >= limit ? "OK" : "BELOW_NVLINK",
              .text = fmt::format(
                  "the best bus bandwidth is {}, the limit is {} ({:.0f} % of a GPU's NVLinks)",
                  rate_text(busbw), rate_text(limit), 100 * efficiency),
              .numbers = {{"busbw", busbw, "B/s"}, {"limit", limit, "B/s"}}};
  if (busbw <= 0) {
    check.verdict = Verdict::inconclusive;
    check.reason = "NOT_MEASURED";
    check.text = "there is no bus bandwidth";
  }
  return check;
}

}  // namespace ccl_tests::acceptance
