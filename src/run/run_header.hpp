// The header of a run, as data, and what it says beside the settings.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/run/link_ceiling.hpp"

namespace ccl_tests {

// "8 processes on 2 hosts, 4 on each", "2 threads of 1 process on 1 host".
std::string placement(const std::vector<RankIdentity>& ranks, int processes);

// The facts that a run has found out about itself before its first row.
struct HeaderFacts {
  const RankGroups& groups;  // process groups
  const SweepRange& range;
  std::optional<std::size_t> reduced_max;  // -e lowered to this because of memory
  const BenchmarkRunner& runner;
  std::vector<std::string> left_out;   // lines about what is not measured
  std::optional<double> core_to_core;  // of process 0; nullopt: not probed
  LinkCeiling ceiling;
  std::vector<std::string> rank_differences;  // what ranks do not share
};

// Returns the header of a run. On rank 0.
RunInfo describe(const Rank& rank, const Collective& collective, const Options& options,
                 const HeaderFacts& facts);

// Returns what distinguishes this run from others of its program.
std::string mode_of(const Collective& collective, const Options& options);

// Returns lines about the settings that only some programs take, and what the lines after a
// composite's rows mean.
std::vector<std::string> spec_notes(const Collective& collective, const CollectiveOptions& options);

// Returns a few words about these settings, for the files: "skew linear, 8 objects".
std::string spec_label(const Collective& collective, const CollectiveOptions& options);

// Returns header lines about the routing of a row of `bytes`: loads of experts and ranks, bytes
// between ranks. Nothing if the collective routes no tokens.
std::vector<std::string> routing_notes(const Collective& collective, const Options& options,
                                       int ranks, std::size_t bytes);

// Returns lines: what each rank sends and receives in a row of `bytes`. Nothing unless asked for, or
// if the collective takes no NCCL_TESTS_ALLTOALLV_* variables.
std::vector<std::string> alltoallv_summary(const Collective& collective, const Options& options,
                                           int ranks, std::size_t bytes);

// Returns NoteKind::note for a line of Capabilities::description whose subject, which is what
// stands before its verb or colon, is this program or one of the types and operations of the run.
// Returns NoteKind::verbose for any other line.
NoteKind kind_of(std::string_view line, const Collective& collective,
                 const std::vector<Kind>& kinds);

// Returns the notes of a run. Of its warnings the most important one comes first. On rank 0.
std::vector<Note> notes_of(const Rank& rank, const Collective& collective, const Options& options,
                           const HeaderFacts& facts);

}  // namespace ccl_tests
