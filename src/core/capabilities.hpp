// The operations and types that a library can do here, as data.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/call.hpp"
#include "src/core/device.hpp"

namespace ccl_tests {

// Some types and reduction operations, and what there is to say of them.
struct TypesAndOps {
  std::optional<DataType> type;  // nullopt: every type
  std::optional<ReduceOp> op;    // nullopt: every reduction, and moving data
  std::string note;
};

// The interface that a user's setting makes a library use towards other hosts.
struct ChosenInterface {
  std::string name, by;                 // "eth1", "--interface"
  std::function<std::uint64_t()> sent;  // returns the bytes sent to other hosts since connecting
};

struct Capabilities {
  // Where the operations' buffers lie.
  Memory memory = Memory::host;
  // True if sums and products of integers are taken modulo 2^w. MPI leaves overflow open (Open MPI
  // 4.1 saturates 8-bit sums). Inputs for such a library stay within the type's range.
  bool integers_wrap = true;
  // Lines of the run's header, without '#': transport, algorithms that are the suite's own, ...
  std::vector<std::string> description = {};
  // The operations that the backend has. The suite composes all others from `transfer`.
  OperationSet operations = {OperationId::transfer};
  // The refused ones. note: the reason.
  std::vector<TypesAndOps> unsupported = {};
  // The ones that the backend composes from other operations inside the clock. note: how.
  std::vector<TypesAndOps> emulated = {};
  // The ones whose elements the suite's functions combine, beside those that are composed. No note.
  std::vector<TypesAndOps> combined_by_suite = {};
  // Absent: nobody chose one, or the library does not say what it sends.
  std::optional<ChosenInterface> chosen_interface = {};

  // Returns why the library does not support `op` (nullopt: moving data) on `type`. Returns nullopt
  // if supported.
  std::optional<std::string> why_not(DataType type, std::optional<ReduceOp> op) const;

  // Returns why these operations can be neither made nor composed. Returns nullopt if they can.
  std::optional<std::string> why_not(const OperationSet& used) const;

  // Returns true if rows of a program that uses these operations are to be marked: the suite or the
  // backend composes what they measure.
  bool emulates(const OperationSet& used, DataType type, std::optional<ReduceOp> op) const;

  // Returns true if the suite's arithmetic is in the results of a program that uses these
  // operations, false if all of it is the library's.
  bool suite_combines(const OperationSet& used, DataType type, ReduceOp op) const;

  // Returns whose arithmetic such a program runs on what the library supports, as "gloo's; the
  // suite's for bfloat16, avg, bitwise". library: its name.
  std::string arithmetic(const OperationSet& used, std::string_view library) const;
};

}  // namespace ccl_tests
