#include "tools/acceptance/message_bytes.hpp"

#include "src/measure/statistics.hpp"
#include "tools/acceptance/schedule.hpp"
#include "tools/acceptance/team_measurer.hpp"

namespace ccl_tests::acceptance {
namespace {

constexpr std::size_t pilot_bytes = 1 << 20;
constexpr std::size_t least_bytes = 64 << 10;
constexpr double messages_wanted = 50;  // of which a 95th percentile says something

}  // namespace

std::vector<double> seconds_of(const std::vector<PairTimes>& times) {
  std::vector<double> all;
  for (const PairTimes& pair : times)
    for (const Transfer& way : {pair.forward, pair.backward})
      if (way.seconds > 0) all.push_back(way.seconds);
  return all;
}

std::size_t message_bytes(Context& context) {
  const PairsPlan& plan = context.plan.pairs;
  if (plan.bytes > 0) return plan.bytes;
  TeamMeasurer pilot(context.team, context.hosts, pilot_bytes, plan.seconds);
  const std::vector<double> seconds =
      seconds_of(pilot.measure(circle(context.hosts.number()).front()));
  if (seconds.empty()) return pilot_bytes;
  const double message_s = median(seconds);
  const double wanted = pilot_bytes / message_s * plan.seconds / messages_wanted;
  std::size_t bytes = least_bytes;
  while (bytes < most_message_bytes && 2.0 * static_cast<double>(bytes) <= wanted) bytes *= 2;
  return bytes;
}

}  // namespace ccl_tests::acceptance
