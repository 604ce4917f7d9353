// What every rank tells all others of itself before anything is measured.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/core/control_channel.hpp"
#include "src/job/rank_device.hpp"

namespace ccl_tests {

struct RankIdentity {
  std::string host, machine, cpu;
  long pid = 0;
  std::size_t memory = 0;  // bytes available to its buffers, with all ranks that share it
  std::string cpus;        // that it may run on: "0-3,8"
  double cpu_quota = 0;    // CPUs' time that it is given; 0: no limit
  DeviceIdentity device = {};
  std::string bound;           // CPUs that --bind gave to its thread; empty: not bound
  std::size_t core_cache = 0;  // bytes of a core's own cache (L2)
  std::size_t last_cache = 0;  // bytes of the last-level cache; 0: not known

  // Returns host_identity() of the rank's host.
  std::string place() const { return host + ' ' + machine; }
};

// Who and where all ranks of a job are, in rank order.
struct RankTable {
  std::vector<RankIdentity> ranks;

  const RankIdentity& operator[](int rank) const { return ranks[static_cast<std::size_t>(rank)]; }
  // Returns the place of each rank.
  std::vector<std::string> places() const;
  // Returns true if all ranks share one CLOCK_MONOTONIC.
  bool on_one_machine() const;
};

// Who this rank is. Its device is not known yet.
RankIdentity this_rank();

// Collective. Returns what all ranks say of themselves.
RankTable gather_rank_table(ControlChannel& channel, const RankIdentity& mine, double limit_s);

}  // namespace ccl_tests
