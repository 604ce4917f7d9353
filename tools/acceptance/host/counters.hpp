// What a host counts while it works.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace ccl_tests::acceptance {

using Counters = std::map<std::string, std::uint64_t>;

// Returns counters of this host: "sent eth0" and "received eth0" (bytes), "errors eth0", "sent mlx5_0/1",
// ..., "retransmits" (TCP segments), "symbol errors mlx5_0/1" and others of InfiniBand's, and "PCIe fatal errors
// eth0" and others of the devices behind them. Those of GPUs are NvmlGpu's. root: where proc and sys are.
Counters host_counters(const std::string& root = "");

std::string to_text(const Counters& counters);
Counters counters_of(const std::string& text);

}  // namespace ccl_tests::acceptance
