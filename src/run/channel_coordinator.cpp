#include "src/run/channel_coordinator.hpp"

#include <fmt/format.h>

#include <utility>

#include "src/core/serialize.hpp"
#include "src/run/rank_report.hpp"

namespace ccl_tests {

ChannelCoordinator::ChannelCoordinator(Rank& rank, std::string row, bool moments, double limit_s)
    : rank_(rank), row_(std::move(row)), moments_(moments), limit_s_(limit_s) {}

Step ChannelCoordinator::agree(const Step& decision) {
  const std::string bytes = span_to_bytes<Step>({&decision, 1});
  const Step step = span_from_bytes<Step>(rank_.world().broadcast(bytes, limit_s_)).at(0);
  rank_.activity().row(fmt::format(
      "{}, {}", row_, step.kind == Step::Kind::single_calls ? "untimed calls" : "timed calls"));
  return step;
}

std::vector<Samples> ChannelCoordinator::gather(const Samples& mine) {
  std::vector<Samples> all;
  const std::string text = moments_ ? moments_to_text(mine) : to_text(mine);
  for (const std::string& bytes : rank_.world().gather(text, limit_s_))
    all.push_back(moments_ ? samples_of_moments(bytes) : samples_of(bytes));
  return all;
}

}  // namespace ccl_tests
