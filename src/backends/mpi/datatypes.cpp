#include "src/backends/mpi/datatypes.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "src/backends/mpi/library.hpp"
#include "src/core/reduction.hpp"

namespace ccl_tests::mpi_module {
namespace {

// MPI tells a reduction function neither our type nor our operation: one function for each pair.
template <std::size_t pair>
void reduce_elements(void* in, void* inout, int* count, MPI_Datatype* /*mpi_type*/) {
  const auto type = static_cast<DataType>(pair / op_count);
  const auto op = static_cast<ReduceOp>(pair % op_count);
  combine_function(type, op)(inout, in, inout, static_cast<std::size_t>(*count));
}

template <std::size_t... pairs>
constexpr std::array<MPI_User_function*, sizeof...(pairs)> functions_of(
    std::index_sequence<pairs...> /*all*/) {
  return {&reduce_elements<pairs>...};
}

MPI_Op own_op(DataType type, ReduceOp op) {
  static constexpr auto functions = functions_of(std::make_index_sequence<type_count * op_count>());
  constexpr int commutes = 1;
  MPI_Op result = MPI_OP_NULL;
  const auto pair = static_cast<std::size_t>(type) * op_count + static_cast<std::size_t>(op);
  check(MPI_Op_create(functions[pair], commutes, &result), "MPI_Op_create");
  return result;
}

MPI_Op predefined(ReduceOp op) {
  // In the order of ReduceOp: avg and mulsum are composed around the sum.
  const std::array<MPI_Op, op_count> ops = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_SUM,
                                            MPI_SUM, MPI_BAND, MPI_BOR, MPI_BXOR};
  return ops[static_cast<std::size_t>(op)];
}

MPI_Datatype bytes_type(std::size_t width) {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(MPI_Type_contiguous(static_cast<int>(width), MPI_BYTE, &type), "MPI_Type_contiguous");
  check(MPI_Type_commit(&type), "MPI_Type_commit");
  return type;
}

MPI_Datatype make_type(DataType type) {
  if (Datatypes::is_own(type)) return bytes_type(size_of(type));
  // In the order of DataType, which begins with the integers.
  const std::array integers = {MPI_INT8_T,   MPI_UINT8_T, MPI_INT32_T,
                               MPI_UINT32_T, MPI_INT64_T, MPI_UINT64_T};
  if (!is_floating_point(type)) return integers.at(static_cast<std::size_t>(type));
  return type == DataType::float32 ? MPI_FLOAT : MPI_DOUBLE;
}

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
    : type_(element), units_(static_cast<int>(count)), derived_(count > most) {
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
  units_ = 1;
}

Block::~Block() {
  if (derived_) MPI_Type_free(&type_);
}

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
