#include "tools/acceptance/message_bytes.hpp"

#include <algorithm>

#include "src/measure/statistics.hpp"
#include "tools/acceptance/schedule.hpp"
#include "tools/acceptance/team_measurer.hpp"

namespace ccl_tests::acceptance {
namespace {

constexpr std::size_t pilot_bytes = 1 << 20;
constexpr std::size_t least_bytes = 64 << 10;
constexpr double messages_wanted = 50;  // of which a 95th percentile says something
constexpr double fewest_messages = 4;   // of which the median is not that of what a buffer takes

// Returns the largest power of two from least_bytes on that is at most `wanted` and most_message_bytes.
std::size_t power_of_two(double wanted) {
  std::size_t bytes = least_bytes;
  while (bytes < most_message_bytes && 2.0 * static_cast<double>(bytes) <= wanted) bytes *= 2;
  return bytes;
}

// Returns the times of a round of messages of `bytes`, seconds: of each pair there and back. 0: not measured.
std::vector<double> round_of(Context& context, std::size_t bytes) {
  TeamMeasurer measurer(context.team, context.hosts, {bytes, bytes}, context.plan.pairs.seconds);
  std::vector<double> seconds;
  for (const PairTimes& pair : measurer.measure(circle(context.hosts.number()).front()))
    for (const Transfer& way : {pair.forward, pair.backward}) seconds.push_back(way.seconds);
  return seconds;
}

}  // namespace

std::vector<double> seconds_of(const std::vector<PairTimes>& times) {
  std::vector<double> all;
  for (const PairTimes& pair : times)
    for (const Transfer& way : {pair.forward, pair.backward})
      if (way.seconds > 0) all.push_back(way.seconds);
  return all;
}

bool are_buffered(const std::vector<double>& seconds, std::size_t bytes,
                  const std::vector<double>& lasting, std::size_t lasting_bytes, double slowdown) {
  std::vector<double> faster;  // rate over that of the long messages
  for (std::size_t k = 0; k < std::min(seconds.size(), lasting.size()); ++k)
    if (seconds[k] > 0 && lasting[k] > 0)
      faster.push_back(static_cast<double>(bytes) / seconds[k] * lasting[k] /
                       static_cast<double>(lasting_bytes));
  if (faster.empty()) return false;
  const auto quarter = faster.end() - 1 - static_cast<std::ptrdiff_t>(faster.size() / 4);
  std::nth_element(faster.begin(), quarter, faster.end());
  return *quarter * (1 - slowdown / 2) > 1;
}

MessageSizes message_sizes(Context& context) {
  const PairsPlan& plan = context.plan.pairs;
  if (plan.bytes > 0) return {plan.bytes, plan.bytes};
  std::vector<double> seconds = round_of(context, pilot_bytes);
  std::erase_if(seconds, [](double one) { return !(one > 0); });
  if (seconds.empty()) return {pilot_bytes, pilot_bytes};
  const double rate = pilot_bytes / median(std::move(seconds));
  MessageSizes sizes{power_of_two(rate * plan.seconds / messages_wanted),
                     power_of_two(rate * plan.seconds / fewest_messages)};
  if (sizes.bytes >= sizes.most) return sizes;
  const std::vector<double> lasting = round_of(context, sizes.most);
  while (sizes.bytes < sizes.most && are_buffered(round_of(context, sizes.bytes), sizes.bytes,
                                                  lasting, sizes.most, plan.slowdown))
    sizes.bytes *= 2;
  return sizes;
}

}  // namespace ccl_tests::acceptance
