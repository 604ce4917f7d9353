// Which wires the data of a stage have taken.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "tools/acceptance/hosts.hpp"
#include "tools/acceptance/record.hpp"
#include "tools/acceptance/team.hpp"

namespace ccl_tests::acceptance {

// Returns what the slowest host's wire can carry in one direction, bytes per second; 0: some host does not
// say. interface: which wire; empty: each host's fastest that is up. On rank 0.
double slowest_wire(Team& team, const Hosts& hosts, const std::string& interface);

using Counters = std::map<std::string, std::uint64_t>;

// Counts what hosts send and receive from its beginning to pause(). On rank 0.
class WireCount {
 public:
  WireCount(Team& team, const Hosts& hosts) : team_(team), hosts_(hosts) { go_on(); }
  void pause();
  void go_on();

  // Returns what the counters say beside `sent` bytes that all hosts together were given to send: did they
  // take `interface` (empty: any)? And errors that links have counted.
  std::vector<Check> checks(const std::string& interface, std::uint64_t sent) const;

 private:
  std::vector<Counters> read();

  Team& team_;
  const Hosts& hosts_;
  std::vector<Counters> begin_;
  std::vector<Counters> passed_;  // of each host
};

// Returns the checks of what hosts have counted, as WireCount does. Pure.
std::vector<Check> wire_checks(const std::vector<std::string>& hosts,
                               const std::vector<Counters>& counted, const std::string& interface,
                               std::uint64_t sent);

}  // namespace ccl_tests::acceptance
