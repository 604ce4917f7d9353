// One rank's part of a replay.
#pragma once

#include <string>

#include "src/job/rank.hpp"
#include "tools/replay/arguments.hpp"
#include "tools/replay/report.hpp"
#include "verify/pattern.hpp"

namespace ccl_tests::replay {

// Reads this rank's trace, compares all ranks' calls, makes each once with verified data, and makes them on the clock.
// Sets `printed` on rank 0 alone. Returns the exit code. Collective. Throws Error with
// Exit::inconclusive that names rank, group and sequence if the traces disagree; UsageError, Error
// for files; what the library, a peer or a limit throws.
int run(Rank& rank, const Arguments& arguments, verify::PatternCache& patterns,
        std::string& printed);

// Prints what would be replayed, from all ranks' files. Returns the exit code. Throws as run().
int list(const Arguments& arguments);

}  // namespace ccl_tests::replay
