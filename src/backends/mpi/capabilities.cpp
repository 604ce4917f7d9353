#include "src/backends/mpi/capabilities.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "src/backends/mpi/datatypes.hpp"
#include "src/backends/mpi/library.hpp"

namespace ccl_tests::mpi_module {
namespace {

// What the suite does itself it does on the host's memory.
std::vector<TypesAndOps> unsupported_on(const Device* device) {
  std::vector<TypesAndOps> result;
  if (device == nullptr) return result;
  for (const ReduceOp op : every_op()) {
    if (is_composed(op)) {
      result.push_back({std::nullopt, op, fmt::format("{} with MPI on a GPU's memory", name(op))});
      continue;
    }
    for (const DataType type : all_types()) {
      if (Datatypes::is_own(type))
        result.push_back(
            {type, op, fmt::format("reductions of {} with MPI on a GPU's memory", name(type))});
    }
  }
  return result;
}

}  // namespace

Capabilities capabilities_on(const Device* device, std::size_t most) {
  return {.memory = device != nullptr ? device->memory() : Memory::host,
          .integers_wrap = false,
          .description =
              {"threads: " + thread_level() + " (--mpi-thread)",
               "half, bfloat16, f8e4m3, f8e5m2: no MPI type, reduced by functions of the suite's",
               "integer inputs: such that no sum or product overflows, which MPI leaves open",
               "avg and mulsum are composed: sum, then divide; multiply, then sum",
               fmt::format("more than {} elements: reductions in pieces of so many, vector "
                           "collectives as messages, everything else as derived types",
                           most),
               "reduce_scatter(v) in place: the suite copies the result to the rank's block"},
          .operations = OperationSet::all(),
          .unsupported = unsupported_on(device),
          .emulated = {{std::nullopt, ReduceOp::avg, "sum, then divide"},
                       {std::nullopt, ReduceOp::mulsum, "multiply, then sum"}}};
}

}  // namespace ccl_tests::mpi_module
