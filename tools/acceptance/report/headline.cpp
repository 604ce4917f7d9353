#include "tools/acceptance/report/headline.hpp"

#include <fmt/format.h>

#include <algorithm>
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

// Returns the rate of the fastest pair of first ranks, bytes per second; 0 if none was measured.
double best_pair(const Record& record) {
  double best = 0;
  for (const PairMatrix& matrix : record.pairs)
    for (const double seconds : matrix.seconds)
      if (matrix.rail == 0 && seconds > 0)
        best = std::max(best, static_cast<double>(matrix.bytes) / seconds);
  return best;
}

// Of a run that passed, and whose hosts may all be slow.
std::string relative_words(const Record& record) {
  if (record.hosts.size() < 2)
    return "(relative): 1 host, results right; its speed was compared with nothing";
  const std::string hosts = "(relative): " + counted(record.hosts.size(), "host");
  const double best = best_pair(record);
  if (best <= 0) return hosts + ", results right; no limit of their speed is given";
  return fmt::format("{} alike, best pair {}; all slow? --min-bandwidth", hosts, rate_text(best));
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
  if (is_relative(record)) return relative_words(record);
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
