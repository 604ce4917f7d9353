// The stage that compares hosts, and what they count during the others: troubles, and which wires the data took.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/acceptance/host/probe.hpp"
#include "tools/acceptance/record.hpp"
#include "tools/acceptance/stages/stages.hpp"
#include "tools/acceptance/team.hpp"

namespace ccl_tests::acceptance {

// Counts from its beginning to pause(). On rank 0.
class HostCount {
 public:
  HostCount(Team& team, const Hosts& hosts) : team_(team), hosts_(hosts) { go_on(); }
  void pause();
  void go_on();

  // Returns what each host has counted.
  const std::vector<Counters>& counts() const { return counts_; }

 private:
  Team& team_;
  const Hosts& hosts_;
  std::vector<Counters> begin_, counts_;
};

// Returns a check for each host that has counted errors of its wires or of its GPUs. WARN; FAIL for memory errors of
// a GPU that were not corrected. Pure.
std::vector<Check> error_checks(std::string_view stage, const Hosts& hosts,
                                const std::vector<Counters>& counted);

// Calls `work`, adds error_checks() to the journal's stage, and returns what each host counted meanwhile. On rank 0.
std::vector<Counters> counted_during(Context& context, std::string_view stage,
                                     const std::function<void()>& work);

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
