#include "src/backends/nccl/datatypes.hpp"

#include <cstring>

namespace ccl_tests::nccl_module {

ncclDataType_t nccl_type(DataType type) {
  switch (type) {
    case DataType::int8: return ncclInt8;
    case DataType::uint8: return ncclUint8;
    case DataType::int32: return ncclInt32;
    case DataType::uint32: return ncclUint32;
    case DataType::int64: return ncclInt64;
    case DataType::uint64: return ncclUint64;
    case DataType::half: return ncclFloat16;
    case DataType::float32: return ncclFloat32;
    case DataType::float64: return ncclFloat64;
    case DataType::bfloat16: return ncclBfloat16;
    case DataType::f8e4m3: return ncclFloat8e4m3;
    case DataType::f8e5m2: return ncclFloat8e5m2;
  }
  return ncclFloat32;
}

std::optional<ncclRedOp_t> nccl_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::sum: return ncclSum;
    case ReduceOp::prod: return ncclProd;
    case ReduceOp::max: return ncclMax;
    case ReduceOp::min: return ncclMin;
    case ReduceOp::avg: return ncclAvg;
    case ReduceOp::mulsum:
    case ReduceOp::band:
    case ReduceOp::bor:
    case ReduceOp::bxor: return std::nullopt;
  }
  return std::nullopt;
}

std::uint64_t mulsum_bits(DataType type, int rank) {
  return with_type(type, [&]<class T>() {
    T scalar{};
    if constexpr (is_float<T>) {
      scalar = from_double<T>(mulsum_scalar(rank));
    } else {
      scalar = static_cast<T>(mulsum_scalar(rank));
    }
    std::uint64_t bits = 0;
    std::memcpy(&bits, &scalar, sizeof scalar);  // little endian
    return bits;
  });
}

}  // namespace ccl_tests::nccl_module
