// What the hub knows about the exchange of one team that is under way.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/bootstrap/control_frame.hpp"
#include "src/bootstrap/deadline.hpp"

namespace ccl_tests {

class HubRound {
 public:
  // processes: ascending.
  explicit HubRound(std::vector<int> processes)
      : processes_(std::move(processes)), bytes_(processes_.size()) {}

  const std::vector<int>& processes() const { return processes_; }
  bool under_way() const { return arrived_ != 0; }
  bool complete() const { return arrived_ == bytes_.size(); }
  bool has(int process) const { return bytes_[index(process)].has_value(); }
  TimePoint deadline() const { return deadline_; }  // of the least patient so far

  // False when it is not this process's turn to contribute to this round.
  bool add(int process, Contribution contribution) {
    if (!std::binary_search(processes_.begin(), processes_.end(), process)) return false;
    std::optional<std::string>& slot = bytes_[index(process)];
    if (contribution.round != number_ || slot) return false;
    slot = std::move(contribution.bytes);
    ++arrived_;
    deadline_ = std::min(deadline_, deadline_of_limit(contribution.limit_s));
    return true;
  }

  // The complete round; the next one begins.
  Round take() {
    Round round{number_++, {}};
    for (std::optional<std::string>& slot : bytes_) {
      round.bytes.push_back(std::move(*slot));
      slot.reset();
    }
    arrived_ = 0;
    deadline_ = TimePoint::max();
    return round;
  }

 private:
  std::size_t index(int process) const {
    const auto at = std::lower_bound(processes_.begin(), processes_.end(), process);
    return static_cast<std::size_t>(at - processes_.begin());
  }

  std::vector<int> processes_;
  std::uint64_t number_ = 0;
  std::size_t arrived_ = 0;
  std::vector<std::optional<std::string>> bytes_;
  TimePoint deadline_ = TimePoint::max();
};

}  // namespace ccl_tests
