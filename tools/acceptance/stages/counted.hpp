// What hosts have counted during a stage, and the troubles among it.
#pragma once

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
  const std::vector<Counters>& counted() const { return counted_; }

 private:
  Team& team_;
  const Hosts& hosts_;
  std::vector<Counters> begin_, counted_;
};

// Returns a check for each host that has counted errors of its wires or of its GPUs. WARN; FAIL for memory errors of
// a GPU that were not corrected. Pure.
std::vector<Check> error_checks(std::string_view stage, const Hosts& hosts,
                                const std::vector<Counters>& counted);

// Calls `work`, adds error_checks() to the journal's stage, and returns what each host counted meanwhile. On rank 0.
std::vector<Counters> counted_during(Context& context, std::string_view stage,
                                     const std::function<void()>& work);

}  // namespace ccl_tests::acceptance
