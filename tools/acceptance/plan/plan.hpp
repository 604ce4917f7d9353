// The plan of an acceptance run, and what it holds the machines to.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ccl_tests::acceptance {

// A limit of rows of a program and size. Bandwidths are bus bandwidths in bytes per second,
// times in seconds; 0: no limit.
struct RateLimit {
  std::string stage = "full";  // or "node"
  std::string program = {};    // without _perf
  std::size_t bytes = 0;       // 0: of any size
  double min_busbw = 0;        // below: FAIL
  double warn_busbw = 0;       // below: WARN
  double max_time_s = 0;       // above: FAIL

  std::string row() const;  // "all_reduce 1G", "all_reduce" of any size
};

// Programs on groups of ranks.
struct RatePlan {
  bool run = true;
  std::vector<std::string> programs;
  std::vector<std::size_t> sizes;
  double seconds = 1;  // of timed calls for each row, at most
};

// The largest message where the plan gives no size.
inline constexpr std::size_t most_message_bytes = std::size_t{64} << 20;

// Messages between hosts, one rank of each.
struct PairsPlan {
  bool run = true;
  std::size_t bytes = 0;     // of a message; 0: so that about 50 of them fit into `seconds`
  double seconds = 0.2;      // of timed calls for each direction of a round, at most
  double slowdown = 0.10;    // what has to be found
  double min_bandwidth = 0;  // bytes/s that the median pair has to reach; 0: see `efficiency`
  double efficiency = 0.7;   // of what the wire says it can carry, if it says it
  // The same between the other ranks of each host, which may have network cards of their own; nullopt: if
  // ranks use GPUs.
  std::optional<bool> rails = {};
  bool links = false;  // all pairs, to find links that are slow though their hosts are not
};

struct ScalingPlan {
  bool run = true;
  std::string program = "all_reduce";
  std::size_t bytes = 0;        // 0: the largest of the full stage
  double min_efficiency = 0.5;  // of the bus bandwidth of two hosts; below: WARN
  // Search for the host because of which. If that bandwidth depends on the number of hosts by itself (small messages,
  // few CPUs) there is none to find.
  bool find = false;
};

struct Plan {
  std::string name = "generic";
  std::string digest;     // of the text: the first 8 bytes of SHA-256, hexadecimal
  std::string interface;  // that all data have to take; empty: any
  std::vector<std::vector<std::string>> racks;  // names of hosts; empty: not known
  // Facts that the plan names: one that no host tells is a mistake, or cannot be looked at.
  bool same_given = false;
  // Facts; "pci *" stands for all that begin so, of hosts that have them.
  std::vector<std::string> same = {"kernel",     "os",          "cpu",     "cpus",
                                   "gpu driver", "gpus",        "gpu ecc", "gpu clocks",
                                   "gpu pcie",   "gpu nvlinks", "pci *",   "gpu power limit"};
  bool sanity = true;
  RatePlan node{.programs = {"all_reduce"}, .sizes = {std::size_t{64} << 20}};
  RatePlan full{.programs = {"all_reduce", "all_gather", "reduce_scatter", "alltoall"},
                .sizes = {8, std::size_t{1} << 20, std::size_t{64} << 20}};
  PairsPlan pairs;
  ScalingPlan scaling;
  double soak_s = 0;  // 0: no such stage
  std::vector<RateLimit> limits;
  bool strict = false;  // a run without a limit of all hosts' speed proves nothing (--strict)
};

std::string sizes_text(const std::vector<std::size_t>& sizes);  // "8, 1M"
std::size_t largest(const RatePlan& plan);                      // of its sizes

// Returns the names of the plans that the suite brings.
std::vector<std::string> builtin_plans();

// Returns the plan of that name, or that of a .toml file (docs/ACCEPTANCE.md lists its keys). Throws
// UsageError that names the line and what is accepted there.
Plan plan_of(const std::string& name_or_file);

// Returns the plan of a TOML text. source: what messages call it.
Plan parse_plan(const std::string& text, const std::string& source);

// Returns bytes per second of "360 GB/s", "10 Gbit/s", "900 MB/s". Throws UsageError.
double parse_bandwidth(const std::string& text);

}  // namespace ccl_tests::acceptance
