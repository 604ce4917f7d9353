// What of the command line means something for a program.
#pragma once

#include <string>

#include "src/core/collective.hpp"

namespace ccl_tests {

// For each kind of flags why the program does not take them, for example "has no root"; empty: it
// takes them. nccl-tests' flags stay accepted by the programs that nccl-tests has: scripts pass
// all of them to every program.
struct Taken {
  std::string sweep;  // everything about rows
  std::string sizes, types, ops, roots, unalign, groups, pairs, one_reduction;
  std::string skew, objects, tensors, buckets, async_operations, via, mode, matrix;
};
Taken taken_by(const Collective& collective);

}  // namespace ccl_tests
