#include "tools/mesh/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "src/measure/estimate.hpp"
#include "src/measure/statistics.hpp"

namespace ccl_tests::mesh {
namespace {

constexpr std::size_t least_turns = 6;
constexpr double widest = 0.5;  // half of the interval of a time alone, over the time

void set_alone(Victim& victim, std::span<const double> seconds, bool right,
               std::string_view advice) {
  const Estimate found = estimate(seconds, Statistic::median);
  if (!right) {
    victim.why_not = "data were wrong while it was alone";
  } else if (seconds.size() < least_turns) {
    victim.why_not =
        fmt::format("{} turns alone give no interval; use --rounds 3 or more", seconds.size());
  } else if (found.value > 0 && !found.has_interval()) {
    victim.why_not =
        fmt::format("{} turns alone give no interval, since times drift from turn to turn; use {}",
                    seconds.size(), advice);
  } else if (!(found.value > 0)) {
    victim.why_not = "a call takes less time than the clock can tell";
  } else if (found.half_width().value_or(widest + 1) > widest) {
    victim.why_not = fmt::format("its time alone is known to +-{:.0f} % only; use {}",
                                 100 * *found.half_width(), advice);
  } else {
    victim.alone = {found.value, found.low, found.high};
  }
}

// The turns of one round, of one victim.
struct Round {
  double alone_s = 0;
  std::size_t alone = 0;
  std::map<int, std::pair<double, std::size_t>> beside;  // seconds, turns
};

std::optional<Interval> slowdown(const std::map<std::size_t, Round>& rounds, int beside) {
  std::vector<double> logs;
  for (const auto& [number, round] : rounds) {
    const auto found = round.beside.find(beside);
    if (found == round.beside.end() || found->second.second != round.alone) continue;
    if (round.alone_s > 0 && found->second.first > 0)
      logs.push_back(std::log(found->second.first / round.alone_s));
  }
  if (logs.size() < 2) return std::nullopt;
  const double mean = mean_of(logs), half = half_width_of_mean(logs);
  return Interval{std::exp(mean), std::exp(mean - half), std::exp(mean + half)};
}

}  // namespace

std::vector<int> turns_of(std::size_t victim, std::size_t patterns) {
  std::vector<int> turns = {Turn::alone};
  for (std::size_t k = 0; k < patterns; ++k)
    if (k != victim) turns.push_back(static_cast<int>(k));
  if (patterns > 2) turns.push_back(static_cast<int>(patterns));
  for (std::size_t k = turns.size(); k-- > 0;) turns.push_back(turns[k]);
  return turns;
}

std::vector<Victim> matrix_of(std::size_t patterns, std::span<const Turn> turns,
                              std::string_view advice) {
  std::vector<Victim> victims(patterns);
  for (std::size_t v = 0; v < patterns; ++v) {
    std::vector<double> alone;
    std::map<std::size_t, Round> rounds;
    bool right = true;
    for (const Turn& turn : turns) {
      if (turn.victim != v) continue;
      Round& round = rounds[turn.round];
      if (turn.beside == Turn::alone) {
        alone.push_back(turn.seconds);
        round.alone_s += turn.seconds;
        ++round.alone;
        right = right && turn.right;
      } else {
        auto& [seconds, number] = round.beside[turn.beside];
        seconds += turn.seconds;
        ++number;
      }
    }
    set_alone(victims[v], alone, right, advice);
    victims[v].slowdowns.resize(patterns + 1);
    if (!victims[v].alone) continue;
    for (std::size_t b = 0; b <= patterns; ++b)
      victims[v].slowdowns[b] = slowdown(rounds, static_cast<int>(b));
  }
  return victims;
}

}  // namespace ccl_tests::mesh
