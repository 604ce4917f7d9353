// Ranks as threads: they share their process's connection to the control plane.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "src/bootstrap/control.hpp"
#include "src/core/control_channel.hpp"

namespace ccl_tests {

// One ControlChannel per rank of this process; `control` must outlive them and their groups. Rank =
// process * threads + thread. Each object is used by one thread. abort makes waiting exchanges of
// this process throw Error; it also ends the job through `control` (code 4, unless control.abort
// was called before with a more telling one).
class ThreadRanks {
 public:
  ThreadRanks(Control& control, int threads);
  ControlChannel& rank(int thread) { return *ranks_.at(static_cast<std::size_t>(thread)); }
  void abort(const std::string& why) noexcept;

 private:
  class Exchange;
  class Exchanges;
  class Rank;
  Control& control_;
  std::shared_ptr<Exchanges> exchanges_;
  std::vector<std::unique_ptr<ControlChannel>> ranks_;
};

}  // namespace ccl_tests
