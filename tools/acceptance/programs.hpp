// The programs that stages run, by name.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "src/core/collective.hpp"
#include "tools/acceptance/team.hpp"

namespace ccl_tests::acceptance {

// Returns the program of that name, without _perf; one_way, too. Throws Error if there is none.
const Collective& program_named(std::string_view name);

// What its rows are of, where nobody asked for more: float, or the first that it has.
DataType usual_type(const Collective& program);
std::optional<ReduceOp> usual_op(const Collective& program);  // nullopt: nothing is reduced

// Returns why the team cannot run a program on any row: its library lacks an operation, or its buffers lie in the
// wrong memory. Returns nullopt if it can.
std::optional<std::string> why_never(const Collective& program, Team& team);

// Why the team's library cannot run the usual rows of a program on so many ranks; nullopt: it can.
std::optional<std::string> why_not(const Collective& program, Team& team, int ranks);

}  // namespace ccl_tests::acceptance
