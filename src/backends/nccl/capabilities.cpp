#include "src/backends/nccl/communicator.hpp"

#include <fmt/format.h>

#include <array>
#include <string>
#include <vector>

#include "src/backends/nccl/api.hpp"

namespace ccl_tests::nccl_module {

ncclDataType_t nccl_type(DataType type) {
  // In the order of DataType.
  static constexpr std::array types = {ncclInt8,    ncclUint8,    ncclInt32,      ncclUint32,
                                       ncclInt64,   ncclUint64,   ncclFloat16,    ncclFloat32,
                                       ncclFloat64, ncclBfloat16, ncclFloat8e4m3, ncclFloat8e5m2};
  return types.at(static_cast<std::size_t>(type));
}

std::optional<ncclRedOp_t> nccl_op(ReduceOp op) {
  // In the order of ReduceOp; NCCL does not have the others.
  static constexpr std::array ops = {ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg};
  const auto index = static_cast<std::size_t>(op);
  return index < ops.size() ? std::optional(ops[index]) : std::nullopt;
}

namespace {

// Types and operations that NCCL lacks here.
std::vector<TypesAndOps> unsupported_on(const Setup& setup) {
  constexpr int first_with_fp8 = 90;
  std::vector<TypesAndOps> result;
  for (const DataType type : {DataType::f8e4m3, DataType::f8e5m2}) {
    if (setup.capability < first_with_fp8) {
      result.push_back(
          {type, std::nullopt,
           fmt::format("{} needs compute capability 9.0 in NCCL, the GPU here has {}.{}",
                       name(type), setup.capability / 10, setup.capability % 10)});
    } else if (api().version < NCCL_VERSION(2, 24, 0)) {
      result.push_back(
          {type, std::nullopt,
           fmt::format("{} needs NCCL 2.24, here is {}", name(type), dotted(api().version))});
    } else if (setup.ranks == 1) {  // ncclLaunchOneRank of 2.24 to 2.32 refuses PreMulSum of fp8
      for (const ReduceOp op : {ReduceOp::avg, ReduceOp::mulsum})
        result.push_back(
            {type, op,
             fmt::format("NCCL's path for one rank has no {} of {}", name(op), name(type))});
    }
  }
  for (const ReduceOp op : every_op())
    if (op != ReduceOp::mulsum && !nccl_op(op))
      result.push_back({std::nullopt, op, fmt::format("NCCL has no {}", name(op))});
  return result;
}

std::vector<std::string> describe(const Setup& setup) {
  const char* const composed = "send and recv in a group";
  std::string text = fmt::format(
      "operations on {}; barrier: all_reduce of one int; alltoall: {}; gather, scatter: {}; the "
      "vector collectives: {}; reduce_scatterv: a group of reductions",
      setup.options.null_stream ? "the NULL stream" : "a stream of their own",
      api().alltoall != nullptr ? "NCCL's" : composed,
      api().gather != nullptr ? "NCCL's" : composed, composed);
  if (setup.options.local_register > 0)
    text += fmt::format("; buffers registered {}",
                        setup.options.local_register == 2
                            ? "as symmetric windows where NCCL has them, else with ncclCommRegister"
                            : "with ncclCommRegister");
  std::vector<std::string> lines = {text};
  if (setup.ranks == 1)
    lines.push_back(
        "one rank: NCCL copies within the GPU; in place it does nothing, but for avg and mulsum");
  if (setup.options.show_algorithm)
    lines.push_back(
        "algorithms: as NCCL tells its profiler, which hears nothing of one rank's operations, of "
        "symmetric windows' kernels and of copy engines");
  if (!setup.sharing.empty()) lines.push_back(setup.sharing);
  return lines;
}

}  // namespace

Capabilities capabilities_of(const Setup& setup) {
  return {.memory = Memory::cuda,
          .description = describe(setup),
          .operations = OperationSet::all(),
          .unsupported = unsupported_on(setup)};
}

}  // namespace ccl_tests::nccl_module
