// Where all ranks of a job begin a block together.
#pragma once

#include "src/core/communicator.hpp"
#include "src/job/rank.hpp"
#include "src/measure/workload.hpp"

namespace ccl_tests {

// Over all ranks, whatever group they are in.
class WorldBarrier : public Barrier {
 public:
  // world: outlives it.
  WorldBarrier(Communicator& world, Rank& rank)
      : world_(world), activity_(rank.activity()), self_{rank.rank(), rank.ranks()} {}
  void wait() override {
    inside_library(activity_, [&] { world_.timing_barrier(self_); });
  }

 private:
  Communicator& world_;
  Activity& activity_;
  GroupRank self_;
};

}  // namespace ccl_tests
