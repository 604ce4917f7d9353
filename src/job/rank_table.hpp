// The facts that every rank tells all others of itself before anything is measured, and the device
// that each takes.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/core/control_channel.hpp"
#include "src/core/device.hpp"

namespace ccl_tests {

class Devices;

// The device of a rank, without its description.
struct DeviceIdentity : DeviceInfo {
  int visible = 0;  // devices that the rank's process sees
};

struct RankIdentity {
  std::string host, machine, cpu;
  long pid = 0;
  std::size_t memory = 0;  // bytes available to its buffers, with all ranks that share it
  std::string cpus;        // that it may run on: "0-3,8"
  double cpu_quota = 0;    // CPUs' time that it is given; 0: no limit
  DeviceIdentity device = {};
  std::string bound = {};      // CPUs that --bind gave to its thread; empty: not bound
  std::size_t core_cache = 0;  // bytes of a core's own cache (L2)
  std::size_t last_cache = 0;  // bytes of the last-level cache; 0: not known

  // Returns host_identity() of the rank's host.
  std::string place() const { return host + ' ' + machine; }
};

// The identities and places of all ranks of a job, in rank order.
struct RankTable {
  std::vector<RankIdentity> ranks;

  const RankIdentity& operator[](int rank) const { return ranks[static_cast<std::size_t>(rank)]; }
  // Returns the place of each rank.
  std::vector<std::string> places() const;
  // Returns true if no lower rank is on its host.
  bool is_first_on_host(int rank) const;
  // Returns true if all ranks share one CLOCK_MONOTONIC.
  bool on_one_machine() const;
};

// Collective. Returns what all ranks say of themselves. Devices are not known yet. simulated_host: as
// the simulator calls this rank's host; empty: a real one.
RankTable gather_rank_table(ControlChannel& channel, const std::string& simulated_host,
                            double limit_s);

// One rank among those of its host and of its process.
struct LocalRank {
  int on_host = 0, ranks_on_host = 1;        // by rank
  int in_process = 0, ranks_in_process = 1;  // by rank
};

// The index of the device that a rank takes of the `visible` ones: that of its number on the host
// where there are enough; of its number in the process where its launcher shows each process its
// own. first: this process's first device (NCCL_TESTS_DEVICE). share: ranks may share one. Throws
// Error, in one line, where there are too few.
int choose_device(const LocalRank& rank, int visible, std::optional<int> first, bool share);

// The devices that were asked for.
struct DeviceRequest {
  std::optional<int> first;  // NCCL_TESTS_DEVICE: this process's first
  bool share = false;        // several ranks may share one
  int promised = 0;          // GPUs that each host should have; 0: nobody says
  std::string promised_by;   // who says so
};

// Throws Error naming ranks that share a device without being asked to, and hosts that have fewer
// GPUs than promised. places: of every rank, a host's name first.
void check_devices(const std::vector<DeviceIdentity>& ranks, const std::vector<std::string>& places,
                   const DeviceRequest& request);

// Opens this rank's device, and enters every rank's into `table`. Collective. Throws Error.
std::unique_ptr<Device> take_device(const Devices& devices, ControlChannel& channel,
                                    const DeviceRequest& request, double limit_s, RankTable& table);

}  // namespace ccl_tests
