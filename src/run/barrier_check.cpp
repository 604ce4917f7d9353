#include "src/run/barrier_check.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ccl_tests {

std::vector<double> enter_barriers(const Problem& problem, OperationWorkload& calls, Clock& clock) {
  constexpr int most_rounds = 16;
  constexpr double delay_s = 2e-3;
  const int ranks = problem.shape.self.ranks;
  const int rounds = std::min(ranks, most_rounds);
  std::vector<double> times;
  for (int round = 0; round < rounds; ++round) {
    if (problem.shape.self.rank == round * ranks / rounds) clock.sleep_for(delay_s);
    const Samples sample = calls.make({1, 0});
    times.push_back(sample.front().start);
    times.push_back(sample.front().end);
  }
  return times;
}

std::vector<EarlyLeave> early_leaves(const std::vector<std::vector<double>>& ranks) {
  std::vector<EarlyLeave> result(ranks.size());
  for (std::size_t at = 0; at + 1 < ranks.front().size(); at += 2) {
    const auto enters_earlier = [&](const auto& a, const auto& b) { return a.at(at) < b.at(at); };
    const auto last = std::max_element(ranks.begin(), ranks.end(), enters_earlier);
    const double entered = last->at(at);
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      const double left = ranks[r].at(at + 1);
      if (left >= entered || result[r].calls++ > 0) continue;
      result[r].text = fmt::format("left the barrier {:.1f} us before rank {} entered it",
                                   (entered - left) * 1e6, last - ranks.begin());
    }
  }
  return result;
}

void judge_barriers(const RankGroups& groups, std::vector<RankReport>& reports) {
  for (int g = 0; g < groups.number() && !reports.empty(); ++g) {
    std::vector<std::vector<double>> times;
    for (const int rank : groups.members(g))
      times.push_back(reports[static_cast<std::size_t>(rank)].barrier);
    const std::vector<EarlyLeave> early = early_leaves(times);
    for (std::size_t k = 0; k < early.size(); ++k) {
      RankReport& report = reports[static_cast<std::size_t>(groups.members(g)[k])];
      report.wrong = early[k].calls;
      report.explanation = early[k].text;
    }
  }
}

}  // namespace ccl_tests
