// What a host says of itself: what an operator compares between hosts.
#pragma once

#include <map>
#include <string>

namespace ccl_tests::acceptance {

using Facts = std::map<std::string, std::string>;

// Returns what can differ between hosts that should be alike: "kernel", "os", "cpu", "cpus", "memory",
// "governor", "gpu driver", "gpus", "link eth0" ("up, 10 Gbit/s, MTU 1500"), "infiniband mlx5_0/1"
// ("ACTIVE, 400 Gb/sec (4X NDR)"), "firmware mlx5_0", "pci eth0" ("16 GT/s x8"). What is not available is left
// out. root: where proc, sys and etc are, for tests.
Facts host_facts(const std::string& root = "");

std::string to_text(const Facts& facts);
Facts facts_of(const std::string& text);

}  // namespace ccl_tests::acceptance
