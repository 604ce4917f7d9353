// What the header of a run says beside its settings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "src/run/run_header.hpp"

namespace ccl_tests {

// Returns what distinguishes this run from others of its program.
std::string mode_of(const Collective& collective, const Options& options);

// Returns NoteKind::note for a line of Capabilities::description whose subject, which is what
// stands before its verb or colon, is this program or one of the types and operations of the run.
// Returns NoteKind::verbose for any other line.
NoteKind kind_of(std::string_view line, const Collective& collective,
                 const std::vector<Kind>& kinds);

// Returns the notes of a run. Of its warnings the most important one comes first. On rank 0.
std::vector<Note> notes_of(const Rank& rank, const Collective& collective, const Options& options,
                           const HeaderFacts& facts);

}  // namespace ccl_tests
