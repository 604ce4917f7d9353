#include "src/report/headline.hpp"

#include <fmt/format.h>

#include "src/report/quantity_text.hpp"
#include "src/report/text.hpp"

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

std::string cut(const std::string& text, std::size_t bytes) {
  std::string line = single_line(text);
  if (line.size() <= bytes) return line;
  constexpr std::string_view mark = "...";
  std::size_t end = bytes > mark.size() ? bytes - mark.size() : 0;
  const auto continues = [&](std::size_t at) {
    return (static_cast<unsigned char>(line[at]) & 0xc0) == 0x80;
  };
  while (end > 0 && continues(end)) --end;
  return line.substr(0, end) + std::string(mark);
}

}  // namespace ccl_tests
