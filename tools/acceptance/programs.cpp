#include "tools/acceptance/programs.hpp"

#include <fmt/format.h>

#include "collectives/collectives.hpp"
#include "src/core/capabilities.hpp"
#include "src/core/error.hpp"
#include "tools/acceptance/one_way.hpp"

namespace ccl_tests::acceptance {

const Collective& program_named(std::string_view name) {
  if (name == one_way.name) return one_way;
  for (const Collective* collective : collectives::all())
    if (collective->name == name) return *collective;
  throw Error(fmt::format("there is no program {}", name));
}

DataType usual_type(const Collective& program) {
  return program.domain.types.empty() ? DataType::float32 : program.domain.types.front();
}

std::optional<ReduceOp> usual_op(const Collective& program) {
  if (!program.domain.reduces) return std::nullopt;
  return program.domain.ops.empty() ? ReduceOp::sum : program.domain.ops.front();
}

std::optional<std::string> why_never(const Collective& program, Team& team) {
  if (program.needs.host_memory && team.rank().process().staging.buffers != Memory::host)
    return "needs buffers in host memory; use --memory host";
  return team.library().why_not(operations_of(program));
}

std::optional<std::string> why_not(const Collective& program, Team& team, int ranks) {
  const Capabilities& library = team.library();
  if (auto why = why_never(program, team)) return why;
  if (auto why = library.why_not(usual_type(program), usual_op(program))) return why;
  constexpr std::size_t many = 1 << 20;  // elements
  const Shape shape{many, size_of(usual_type(program)), {0, ranks, 0}, team.spec()};
  return program.unsupported == nullptr ? std::nullopt : program.unsupported(shape);
}

}  // namespace ccl_tests::acceptance
