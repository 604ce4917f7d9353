// Which wires the data of a stage have taken, and how fast these are.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/acceptance/host/probe.hpp"
#include "tools/acceptance/record.hpp"
#include "tools/acceptance/team.hpp"

namespace ccl_tests::acceptance {

// Returns what the slowest host's wire can carry in one direction, bytes per second; 0: some host does not
// say. interface: which wire; empty: each host's fastest that is up. On rank 0.
double slowest_wire(Team& team, const Hosts& hosts, const std::string& interface);

// What hosts have counted during the pairs stage, beside `sent` bytes that all hosts together were given to send: did
// these take `interface` (empty: any)? Pure.
Check wire_check(const std::vector<Counters>& counted, const std::string& interface,
                 std::uint64_t sent);

// The same of a stage of which nobody knows how many bytes its library sends between hosts: did most of
// what was counted take `interface`, or another wire of its kind ("mlx", "eth"), which another rank of the
// host may have? Of less than 10 MB nothing is said. Pure.
Check share_check(std::string_view stage, const std::vector<Counters>& counted,
                  const std::string& interface);

}  // namespace ccl_tests::acceptance
