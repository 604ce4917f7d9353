#include "tools/acceptance/report/headline.hpp"

#include <fmt/format.h>

#include <set>

#include "src/report/text.hpp"
#include "tools/acceptance/report/findings.hpp"
#include "tools/acceptance/report/words.hpp"

namespace ccl_tests::acceptance {
namespace {

constexpr std::size_t subject_bytes = 36;  // leaves the words what they need

// " and 2 more": hosts or links with the same verdict for the same reason.
std::string others(const Record& record, const Check& decided) {
  if (decided.subject == "run") return {};
  std::set<std::string> subjects;
  for (const Check& check : record.checks)
    if (check.verdict == decided.verdict && check.reason == decided.reason &&
        check.subject != decided.subject && check.subject != "run")
      subjects.insert(check.subject);
  return subjects.empty() ? "" : fmt::format(" and {} more", subjects.size());
}

std::string what_decided(const Record& record) {
  if (const Check* const check = deciding_check(record)) {
    const std::string& words = check->text.empty() ? check->reason : check->text;
    return shortened(single_line(bare_subject(*check)), subject_bytes) + others(record, *check) +
           ": " + single_line(words);
  }
  if (record.checks.empty()) return "run: nothing was measured";
  if (!record.complete)
    return fmt::format("run: ended early, after {}", counted(record.checks.size(), "check"));
  if (shown_verdict(record) >= Verdict::warn)
    return "run: " + single_line(record.reason.empty() ? "no reason was recorded" : record.reason);
  return fmt::format("{}, {}: {} in {}", counted(record.hosts.size(), "host"),
                     counted(ranks_of(record), "rank"), counted(record.checks.size(), "check"),
                     counted(record.stages.size(), "stage"));
}

}  // namespace

std::string make_headline(const Record& record) {
  return shortened(fmt::format("{} {}", name(shown_verdict(record)), what_decided(record)),
                   headline_bytes);
}

std::string headline(const Record& record) {
  const std::string own = single_line(record.headline);
  const std::string begin = fmt::format("{} ", name(shown_verdict(record)));
  if (own.substr(0, begin.size()) != begin) return make_headline(record);
  return shortened(own, headline_bytes);
}

}  // namespace ccl_tests::acceptance
