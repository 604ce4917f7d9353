// Which device each rank works on, and what all ranks know of each other's.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/core/control_channel.hpp"
#include "src/devices/devices.hpp"

namespace ccl_tests {

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

// What ranks tell each other of their devices.
struct DeviceIdentity {
  int index = -1;
  int visible = 0;  // devices that the rank's process sees
  std::string name, bus_id, unique_id;
  std::size_t cache_bytes = 0;  // its L2 cache; 0: not known
};

// What was asked for.
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

// This rank's device, and what is known of every rank's.
struct TakenDevice {
  std::unique_ptr<Device> device;
  std::vector<DeviceIdentity> ranks;
};

// Opens this rank's device. Collective. Throws Error.
TakenDevice take_device(const Devices& devices, ControlChannel& channel,
                        const DeviceRequest& request, double limit_s);

}  // namespace ccl_tests
