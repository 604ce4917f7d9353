// The stages of an acceptance run, one after the other. Each is called on rank 0 while the other ranks
// follow (Team), adds its checks to the journal, and throws what the library, a peer or a limit throws.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/acceptance/journal.hpp"
#include "tools/acceptance/plan/plan.hpp"
#include "tools/acceptance/search/confirm.hpp"
#include "tools/acceptance/team.hpp"

namespace ccl_tests::acceptance {

struct Context {
  Team& team;
  const Plan& plan;
  const Hosts& hosts;
  Journal& journal;
  std::uint64_t seed;  // of schedules
};

// Compares hosts in what the plan says has to be the same.
void compare_hosts(Context& context);
// Checks every program on each of its types, at odd sizes.
void check_programs(Context& context);
// Measures each host alone, all at once, against its limits.
void measure_nodes(Context& context);
// Measures messages between hosts: which host or link is slow, does the wire carry what it says, and was it that
// wire? later: what is looked at between two confirmations, of which only hosts that are blamed have two.
void measure_pairs(Context& context, const std::function<void()>& later);
// Measures the same between the other ranks of each host: is one of their wires slow, on a host or everywhere?
void measure_rails(Context& context);
// Returns whether measure_rails() has anything to look at.
bool has_rails(const Plan& plan, const Hosts& hosts, bool gpus);
// Measures these hosts together, at all sizes. stage: "full", or "rest" without those that are blamed.
void measure_all(Context& context, const std::string& stage, const std::vector<int>& hosts);
// Measures two hosts, more, and all: where does it stop to scale?
void measure_scaling(Context& context);
// Repeats a program for a time, every result verified.
void soak(Context& context);

// Returns each host's rack, from 0; empty: not known. Throws UsageError for a host in none, or alone in its rack.
std::vector<int> racks_of(const Plan& plan, const Hosts& hosts);

// The counters of hosts while a stage runs, from the beginning to pause(). On rank 0.
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

// Calls `work`, adds error_checks() to the journal's stage, and returns what each host counted meanwhile. On rank 0.
std::vector<Counters> counted_during(Context& context, std::string_view stage,
                                     const std::function<void()>& work);

// Adds a check of each host, each link and uplink that was found, of the search as a whole, and of the rate that half
// of the pairs reach beside that of the wires. bytes: of a message. On rank 0.
void add_pair_checks(Context& context, const Findings& findings, std::size_t bytes);

// The same of the ranks with number `rail` of each host, from 0: a check of each host and of the search. On rank 0.
void add_rail_checks(Context& context, const Findings& findings, std::size_t bytes,
                     std::size_t rail);

// The rest is pure.

// Returns whether a buffer on the way took messages: a quarter of those of `bytes` is faster for each byte than the
// long ones of the same pairs, by half of the slowdown. Times that are not above 0 are missing.
bool are_buffered(const std::vector<double>& seconds, std::size_t bytes,
                  const std::vector<double>& lasting, std::size_t lasting_bytes, double slowdown);

// Returns a check for each host that has counted errors of its wires or of its GPUs. WARN; FAIL for memory errors of
// a GPU that were not corrected.
std::vector<Check> error_checks(std::string_view stage, const Hosts& hosts,
                                const std::vector<Counters>& counted);

// Compares what hosts counted during the pairs stage with the bytes they sent: did these take `interface` (empty: any)?
Check wire_check(const std::vector<Counters>& counted, const std::string& interface,
                 std::uint64_t sent);

// Returns the same of a stage whose library sends nobody knows how much: did most of what was counted take `interface`,
// or another wire of its kind ("mlx", "eth") of another rank? Of less than 10 MB nothing is said.
Check share_check(std::string_view stage, const std::vector<Counters>& counted,
                  const std::string& interface);

// The bus bandwidth of a row's faster placement. Bytes per second; low and high: of its interval.
struct BusBandwidth {
  double value = 0, low = 0, high = 0;
  double seconds = 0, seconds_low = 0, seconds_high = 0;
};
BusBandwidth bus_bandwidth(const Row& row);

// Returns null if there is no limit of the stage's program and size.
const RateLimit* limit_of(const Plan& plan, std::string_view stage, std::string_view program,
                          std::size_t bytes);

// Returns the check of a row: wrong data FAIL; a limit that all of its interval misses FAIL or WARN,
// one within the interval INCONCLUSIVE; without a limit SKIPPED, with the numbers.
Check row_check(const Plan& plan, const std::string& stage, const std::string& subject,
                std::string_view program, std::size_t bytes, const Row& row);

// Throws UsageError if rows of the two runs cannot be compared: another plan, library, or number of
// hosts or ranks, or wrong data in `before`.
void check_same_run(const Record& before, const Record& now);

// Returns a check for each row that is slower than in `before`: WARN, SLOWER_THAN_BEFORE; and one for all rows that
// both runs measured. A row is slower if its two intervals do not touch and its time grew by more than `slowdown`, a
// share: two runs show how far they are apart, not that the next one will be. Without a common row INCONCLUSIVE.
std::vector<Check> compare_rows(const Record& before, const Record& now, double slowdown);

// Returns the check of a host's best bus bandwidth against what its GPUs' links carry in one direction (bytes per
// second) and the share of it that is expected. Less is INCONCLUSIVE: a library need not use the links well.
Check nvlink_check(const std::string& host, double busbw, double links, double efficiency);

// Returns how many times of a set of hosts have a median that tells a slowdown by this fraction from none: (8.3 sigma /
// -ln(1 - slowdown))^2. sigma: the standard deviation of ln(seconds) of one measurement.
std::size_t repeats_per_test(double sigma, double slowdown);

// Returns whether the hosts together are as fast as they should be.
using SetTest = std::function<bool(const std::vector<int>& hosts)>;

struct PrefixFindings {
  std::vector<int> named;      // bad hosts; empty if none could be told from the others
  std::size_t fails_from = 0;  // hosts of the smallest set that failed; 0 if none did
};

// Finds hosts without which `hosts` pass. Each try puts the hosts in random order, finds the smallest prefix that fails
// by halving, and names its last host if that fails again, but not with another in its place. At most 40 tries.
PrefixFindings prefix_search(const SetTest& passes, std::vector<int> hosts, Random& random);

}  // namespace ccl_tests::acceptance
