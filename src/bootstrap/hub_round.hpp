// What the hub knows about the exchange that is under way.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/bootstrap/control_frame.hpp"
#include "src/bootstrap/deadline.hpp"

namespace ccl {

class HubRound {
 public:
  explicit HubRound(int processes) : bytes_(static_cast<std::size_t>(processes)) {}

  bool under_way() const { return arrived_ != 0; }
  bool complete() const { return arrived_ == bytes_.size(); }
  bool has(int process) const { return bytes_[static_cast<std::size_t>(process)].has_value(); }
  Deadline deadline() const { return deadline_; }  // of the least patient so far

  // False when it is not this process's turn to contribute to this round.
  bool add(int process, Contribution contribution) {
    std::optional<std::string>& slot = bytes_[static_cast<std::size_t>(process)];
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
    deadline_ = Deadline::max();
    return round;
  }

 private:
  std::uint64_t number_ = 0;
  std::size_t arrived_ = 0;
  std::vector<std::optional<std::string>> bytes_;
  Deadline deadline_ = Deadline::max();
};

}  // namespace ccl
