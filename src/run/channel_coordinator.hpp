// How decisions and samples travel. Only for .cpp files: includes nlohmann-json.
#pragma once

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "src/core/serialize.hpp"
#include "src/job/rank.hpp"
#include "src/measure/measurement.hpp"
#include "src/run/rank_report.hpp"

namespace ccl_tests {

// Rank 0 decides; steps and samples travel over the control channel.
class ChannelCoordinator : public Coordinator {
 public:
  ChannelCoordinator(Rank& rank, std::string row, bool moments, double limit_s)
      : rank_(rank), row_(std::move(row)), moments_(moments), limit_s_(limit_s) {}

  Step agree(const Step& decision) override {
    const std::string bytes = span_to_bytes<Step>({&decision, 1});
    const Step step = span_from_bytes<Step>(rank_.world().broadcast(bytes, limit_s_)).at(0);
    rank_.activity().row(fmt::format(
        "{}, {}", row_, step.kind == Step::Kind::single_calls ? "untimed calls" : "timed calls"));
    return step;
  }
  std::vector<Samples> gather(const Samples& mine) override {
    std::vector<Samples> all;
    const std::string text = moments_ ? moments_to_text(mine) : to_text(mine);
    for (const std::string& bytes : rank_.world().gather(text, limit_s_))
      all.push_back(moments_ ? samples_of_moments(bytes) : samples_of(bytes));
    return all;
  }

 private:
  Rank& rank_;
  std::string row_;
  bool moments_;  // of samples travel, not durations alone
  double limit_s_;
};

}  // namespace ccl_tests
