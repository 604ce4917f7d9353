#include "tools/acceptance/stages/team_measurer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "src/core/clock.hpp"
#include "src/measure/statistics.hpp"

namespace ccl_tests::acceptance {

TeamMeasurer::TeamMeasurer(Team& team, const Hosts& hosts, const MessageSizes& sizes,
                           double seconds, std::size_t rail)
    : team_(team), hosts_(hosts), sizes_(sizes), seconds_(seconds), rail_(rail) {
  const auto cells =
      static_cast<std::size_t>(hosts.number()) * static_cast<std::size_t>(hosts.number());
  log_sums_.resize(cells);
  numbers_.resize(cells);
}

Transfer TeamMeasurer::transfer(const Measurement& found, int from, int to) {
  Transfer t{.seconds = found.seconds};
  const auto cell = static_cast<std::size_t>(from) * static_cast<std::size_t>(hosts_.number()) +
                    static_cast<std::size_t>(to);
  if (t.seconds > 0) {
    log_sums_[cell] += std::log(t.seconds);
    ++numbers_[cell];
  }
  sent_ += (found.stream ? found.stream->stamps * found.stream->calls_per_stamp : found.calls) *
           sizes_.bytes;
  if (!found.stream) return t;
  // Of stamps of several messages each, a percentile says nothing of one.
  if (found.stream->calls_per_stamp > 1 || found.stream->seconds.empty()) return t;
  const Statistics stamps = statistics(found.stream->seconds);
  t.p50 = stamps.p50;
  t.p95 = stamps.p95;
  t.operations = found.stream->seconds.size();
  return t;
}

std::vector<PairTimes> TeamMeasurer::measure(const Round& round) {
  std::vector<PairTimes> times;
  if (round.empty()) return times;
  std::vector<RankPair> forward, backward;
  for (const HostPair& pair : round) {
    const int a = hosts_[pair.a].ranks.at(rail_), b = hosts_[pair.b].ranks.at(rail_);
    forward.push_back({a, b});
    backward.push_back({b, a});
    times.push_back({pair, {}, {}, monotonic_seconds()});
  }
  const auto there = team_.times(forward, sizes_.bytes, seconds_);
  const auto back = team_.times(backward, sizes_.bytes, seconds_);
  for (std::size_t p = 0; p < times.size(); ++p) {
    times[p].forward = transfer(there.at(p), round[p].a, round[p].b);
    times[p].backward = transfer(back.at(p), round[p].b, round[p].a);
  }
  return times;
}

bool TeamMeasurer::enlarge() {
  constexpr std::size_t factor = 4;
  if (sizes_.bytes >= sizes_.most) return false;
  sizes_.bytes = std::min(factor * sizes_.bytes, sizes_.most);
  std::fill(log_sums_.begin(), log_sums_.end(), 0);
  std::fill(numbers_.begin(), numbers_.end(), 0);
  return true;
}

PairMatrix TeamMeasurer::matrix() const {
  PairMatrix matrix{.bytes = sizes_.bytes, .rail = rail_};
  for (std::size_t cell = 0; cell < numbers_.size(); ++cell)
    matrix.seconds.push_back(numbers_[cell] > 0 ? std::exp(log_sums_[cell] / numbers_[cell])
                                                : std::numeric_limits<double>::quiet_NaN());
  return matrix;
}

}  // namespace ccl_tests::acceptance
