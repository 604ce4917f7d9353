// What a host says of itself: what an operator compares between hosts, and what was moved over which wire.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace ccl_tests::acceptance {

// Returns what can differ between hosts that should be alike: "kernel", "os", "cpu", "cpus", "memory",
// "governor", "gpu driver", "gpus", "link eth0" ("up, 10 Gbit/s, MTU 1500"), "infiniband mlx5_0/1"
// ("ACTIVE, 400 Gb/sec (4X NDR)"), "firmware mlx5_0". What is not to be had is left out. root: where
// proc, sys and etc are, for tests.
std::map<std::string, std::string> host_facts(const std::string& root = "");

// Returns counters of this host: "sent eth0" and "received eth0" (bytes), "errors eth0", "sent mlx5_0/1",
// ..., "retransmits" (TCP segments), "corrected mlx5_0/1" and others of InfiniBand's error counters.
std::map<std::string, std::uint64_t> host_counters(const std::string& root = "");

// Returns what a network interface or an InfiniBand device can carry in one direction. Bytes per second;
// 0: the host does not say.
double wire_rate(const std::string& interface, const std::string& root = "");
// Returns the names of the wires that are up and lead somewhere, the fastest first.
std::vector<std::string> wires(const std::string& root = "");

// Maps of texts and numbers on their way to rank 0.
std::string to_text(const std::map<std::string, std::string>& facts);
std::string to_text(const std::map<std::string, std::uint64_t>& counters);
std::map<std::string, std::string> facts_of(const std::string& text);
std::map<std::string, std::uint64_t> counters_of(const std::string& text);

}  // namespace ccl_tests::acceptance
