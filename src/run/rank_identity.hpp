// What every rank tells all others of itself before anything is measured.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/core/control_channel.hpp"
#include "src/run/rank_device.hpp"

namespace ccl_tests {

struct RankIdentity {
  std::string host, machine, cpu;
  long pid = 0;
  std::size_t memory = 0;  // bytes available to its buffers, with all ranks that share it
  std::string cpus;        // that it may run on: "0-3,8"
  double cpu_quota = 0;    // CPUs' time that it is given; 0: no limit
  DeviceIdentity device = {};

  // What host_identity() is there.
  std::string place() const { return host + ' ' + machine; }
};

// Every rank's, in rank order. Collective.
std::vector<RankIdentity> meet_ranks(ControlChannel& channel, double limit_s);

std::vector<std::string> places(const std::vector<RankIdentity>& ranks);
bool on_one_machine(const std::vector<RankIdentity>& ranks);

}  // namespace ccl_tests
