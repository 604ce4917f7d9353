// Measures what the link between two neighbouring ranks gives: --ceiling.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "src/model/bounds.hpp"
#include "src/run/benchmark_runner.hpp"

namespace ccl_tests {

struct LinkCeiling {
  std::optional<Ceiling> known;
  std::string source;  // "pingpong" or "--ceiling"; empty: not known
  std::string note;    // for the header; empty: nobody asked
};

// Returns two ranks whose link is probably the slowest that neighbours have: the first neighbours
// on different hosts, or ranks 0 and 1. hosts: what names each rank's host.
RankPair probed_pair(const std::vector<std::string>& hosts);

// Returns what --ceiling says, or measures it: with a pingpong of the sweep's largest size, at most
// 64 MiB, and one of 8 B. Uses the runner's memory, which reserve() has to follow. The result is
// rank 0's; elsewhere nothing is known. Collective.
LinkCeiling link_ceiling(Rank& rank, BenchmarkRunner& runner, const Options& options,
                         const RankTable& table, std::size_t largest_bytes);

}  // namespace ccl_tests
