#include "src/backends/mpi/datatypes.hpp"

#include <fmt/format.h>

#include <vector>

#include "src/backends/mpi/library.hpp"
#include "src/core/reduction.hpp"

namespace ccl_tests::mpi_module {
namespace {

// MPI tells a reduction function neither our type nor our operation: one function for each pair.
template <DataType type, ReduceOp op, class Number>
void reduce_elements(void* in, void* inout, Number* count, MPI_Datatype* /*mpi_type*/) {
  combine_function(type, op)(inout, in, inout, static_cast<std::size_t>(*count));
}

template <DataType type, ReduceOp op>
MPI_Op create() {
  constexpr int commutes = 1;
  MPI_Op result = MPI_OP_NULL;
  if (has_large_counts())
    check(MPI_Op_create_c(&reduce_elements<type, op, MPI_Count>, commutes, &result),
          "MPI_Op_create_c");
  else
    check(MPI_Op_create(&reduce_elements<type, op, int>, commutes, &result), "MPI_Op_create");
  return result;
}

template <DataType type>
MPI_Op make_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::prod: return create<type, ReduceOp::prod>();
    case ReduceOp::max: return create<type, ReduceOp::max>();
    case ReduceOp::min: return create<type, ReduceOp::min>();
    case ReduceOp::sum:
    case ReduceOp::avg:
    case ReduceOp::mulsum: return create<type, ReduceOp::sum>();
    case ReduceOp::band:
    case ReduceOp::bor:
    case ReduceOp::bxor: break;  // not defined on the types that MPI lacks
  }
  return MPI_OP_NULL;
}

MPI_Op own_op(DataType type, ReduceOp op) {
  switch (type) {
    case DataType::half: return make_op<DataType::half>(op);
    case DataType::bfloat16: return make_op<DataType::bfloat16>(op);
    case DataType::f8e4m3: return make_op<DataType::f8e4m3>(op);
    case DataType::f8e5m2: return make_op<DataType::f8e5m2>(op);
    case DataType::int8:
    case DataType::uint8:
    case DataType::int32:
    case DataType::uint32:
    case DataType::int64:
    case DataType::uint64:
    case DataType::float32:
    case DataType::float64: break;
  }
  return MPI_OP_NULL;
}

MPI_Op predefined(ReduceOp op) {
  switch (op) {
    case ReduceOp::prod: return MPI_PROD;
    case ReduceOp::max: return MPI_MAX;
    case ReduceOp::min: return MPI_MIN;
    case ReduceOp::band: return MPI_BAND;
    case ReduceOp::bor: return MPI_BOR;
    case ReduceOp::bxor: return MPI_BXOR;
    case ReduceOp::sum:
    case ReduceOp::avg:
    case ReduceOp::mulsum: break;
  }
  return MPI_SUM;
}

MPI_Datatype bytes_type(std::size_t width) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(static_cast<int>(width), MPI_BYTE, &type), "MPI_Type_contiguous");
  check(MPI_Type_commit(&type), "MPI_Type_commit");
  return type;
}

MPI_Datatype make_type(DataType type) {
  switch (type) {
    case DataType::int8: return MPI_INT8_T;
    case DataType::uint8: return MPI_UINT8_T;
    case DataType::int32: return MPI_INT32_T;
    case DataType::uint32: return MPI_UINT32_T;
    case DataType::int64: return MPI_INT64_T;
    case DataType::uint64: return MPI_UINT64_T;
    case DataType::float32: return MPI_FLOAT;
    case DataType::float64: return MPI_DOUBLE;
    case DataType::half:
    case DataType::bfloat16:
    case DataType::f8e4m3:
    case DataType::f8e5m2: break;
  }
  return bytes_type(size_of(type));
}

}  // namespace

bool Datatypes::is_own(DataType type) {
  return type == DataType::half || type == DataType::bfloat16 || type == DataType::f8e4m3 ||
         type == DataType::f8e5m2;
}

Datatypes::Datatypes() {
  for (const DataType t : all_types()) {
    const auto i = static_cast<std::size_t>(t);
    types_[i] = make_type(t);
    ops_[i].fill(MPI_OP_NULL);
    for (const ReduceOp o : ops_of(t))
      ops_[i][static_cast<std::size_t>(o)] = is_own(t) ? own_op(t, o) : predefined(o);
  }
}

Datatypes::~Datatypes() {
  for (const DataType t : all_types()) {
    if (!is_own(t)) continue;
    const auto i = static_cast<std::size_t>(t);
    for (const ReduceOp o : ops_of(t)) MPI_Op_free(&ops_[i][static_cast<std::size_t>(o)]);
    MPI_Type_free(&types_[i]);
  }
}

Block::Block(MPI_Datatype element, std::size_t width, std::size_t count, std::size_t most)
    : type_(element),
      units_{count},
      large_(count > most && has_large_counts()),
      derived_(count > most && !large_) {
  if (!derived_) return;
  MPI_Datatype piece = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(static_cast<int>(most), element, &piece), "MPI_Type_contiguous");
  const std::size_t pieces = count / most;
  std::array<int, 2> counts = {static_cast<int>(pieces), static_cast<int>(count % most)};
  std::array<MPI_Aint, 2> offsets = {0, static_cast<MPI_Aint>(pieces * most * width)};
  std::array<MPI_Datatype, 2> parts = {piece, element};
  check(MPI_Type_create_struct(2, counts.data(), offsets.data(), parts.data(), &type_),
        "MPI_Type_create_struct");
  check(MPI_Type_commit(&type_), "MPI_Type_commit");
  MPI_Type_free(&piece);
  units_ = {1};
}

Block::~Block() {
  if (derived_) MPI_Type_free(&type_);
}

namespace {

// The suite itself works on the host's memory.
std::vector<TypesAndOps> unsupported_on(const Device* device) {
  std::vector<TypesAndOps> result;
  if (device == nullptr) return result;
  for (const ReduceOp op : every_op()) {
    if (is_composed(op)) {
      result.push_back({std::nullopt, op, fmt::format("{} with MPI on a GPU's memory", name(op))});
      continue;
    }
    for (const DataType type : all_types())
      if (Datatypes::is_own(type))
        result.push_back(
            {type, op, fmt::format("reductions of {} with MPI on a GPU's memory", name(type))});
  }
  return result;
}

std::vector<TypesAndOps> own_types() {
  std::vector<TypesAndOps> result;
  for (const DataType type : all_types())
    if (Datatypes::is_own(type)) result.push_back({type, std::nullopt, {}});
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
               fmt::format("more than {} elements: {}", most,
                           has_large_counts()
                               ? "MPI's functions for large counts (MPI_Allreduce_c)"
                               : "reductions in pieces of so many, vector collectives as "
                                 "messages, everything else as derived types"),
               "reduce_scatter(v) in place: the suite copies the result to the rank's block"},
          .operations = OperationSet::all(),
          .unsupported = unsupported_on(device),
          .emulated = {{std::nullopt, ReduceOp::avg, "sum, then divide"},
                       {std::nullopt, ReduceOp::mulsum, "multiply, then sum"}},
          .combined_by_suite = own_types()};
}

}  // namespace ccl_tests::mpi_module
