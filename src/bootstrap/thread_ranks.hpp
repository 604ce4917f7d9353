// Ranks as threads: they share their process's connection to the control plane.
#pragma once

#include <memory>
#include <vector>

#include "src/bootstrap/control.hpp"
#include "src/core/control_channel.hpp"

namespace ccl_tests {

class ThreadExchange;

// One ControlChannel per rank of this process; `control` must outlive them and their groups. Rank =
// process * threads + thread. Each object is used by one thread. abort makes waiting exchanges of this process throw
// Error; it also ends the job through `control` (code 4, unless control.abort was called before
// with a more telling one).
class ThreadRanks {
 public:
  ThreadRanks(Control& control, int threads);
  ~ThreadRanks();
  ThreadRanks(const ThreadRanks&) = delete;
  ThreadRanks& operator=(const ThreadRanks&) = delete;
  ControlChannel& rank(int thread);
  void abort(const std::string& why) noexcept;

 private:
  class ThreadExchanges;
  class Rank;
  Control& control_;
  std::shared_ptr<ThreadExchanges> exchanges_;
  std::shared_ptr<ThreadExchange> world_;
  std::vector<std::unique_ptr<ControlChannel>> ranks_;
};

}  // namespace ccl_tests
