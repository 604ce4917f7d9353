// What the header of a run says beside its settings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/run/memory_limit.hpp"
#include "src/run/rank_identity.hpp"
#include "src/run/rank_job.hpp"
#include "src/run/rank_run.hpp"

namespace ccl_tests {

// Returns what distinguishes this run from others of its program.
std::string mode_of(const Collective& collective, const Options& options);

// Returns NoteKind::note for a line of Communicator::description() whose subject, which is what
// stands before its verb or colon, is this program or one of the types and operations of the run.
// Returns NoteKind::verbose for any other line.
NoteKind kind_of(std::string_view line, const Collective& collective,
                 const std::vector<Kind>& kinds);

// Returns the notes of a run; of its warnings the most important one comes first. gpu: rank 0's,
// null if the run uses none. left_out: lines about what is not measured.
std::vector<Note> notes_of(const RankJob& job, const std::vector<RankIdentity>& ranks,
                           const RankGroups& groups, const std::vector<PairRound>& rounds,
                           const SizePlan& plan, const Communicator& communicator,
                           const Device* gpu, const std::vector<std::string>& left_out);

}  // namespace ccl_tests
