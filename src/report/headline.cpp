#include "src/report/headline.hpp"

#include <fmt/format.h>

#include "src/record/quantity_text.hpp"

namespace ccl_tests {
namespace {

std::string first_of(const RunSummary& summary, LimitVerdict verdict) {
  const auto lines = limit_lines(summary.limits, verdict);
  return lines.empty() ? std::string() : lines.front();
}

std::string result(const RunSummary& summary) {
  std::string text = fmt::format("{} row{} {}", summary.rows, summary.rows == 1 ? "" : "s",
                                 summary.verified_calls > 0 ? "right" : "not checked");
  if (summary.peak)
    text += fmt::format(", peak {:.3g} GB/s at {}", summary.peak->busbw,
                        binary_size_text(summary.peak->bytes));
  return text;
}

std::string outcome(const RunSummary& summary) {
  switch (summary.verdict) {
    case Verdict::incomplete: return summary.failure;
    case Verdict::wrong: return "wrong data: " + summary.first_wrong;
    case Verdict::varies:
      return "bits vary: " + (summary.reproduction ? summary.reproduction->first_varying : "");
    case Verdict::slow: return first_of(summary, LimitVerdict::missed);
    case Verdict::unreliable: {
      const std::string limit = first_of(summary, LimitVerdict::undecided);
      if (limit.empty() && summary.nothing_spoiled) return std::string(nothing_spoiled);
      return limit.empty() ? result(summary) + ", times unreliable" : limit;
    }
    case Verdict::ok: break;
  }
  return result(summary);
}

}  // namespace

std::string headline(const RunInfo& run, const RunSummary& summary) {
  const std::string what = outcome(summary);
  return run.program.empty() ? what : run.program + ": " + what;
}

}  // namespace ccl_tests
