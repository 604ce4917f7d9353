// The command line of mesh_perf.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/core/collective.hpp"
#include "src/options/flag.hpp"
#include "src/options/options.hpp"
#include "src/options/program_texts.hpp"
#include "tools/mesh/mesh.hpp"

namespace ccl_tests::mesh {

// A collective of one size in all groups along one dimension.
struct Pattern {
  std::string name;  // as given: "tp:all_reduce:1M"
  std::string dimension;
  const Collective* collective = nullptr;
  std::size_t bytes = 0;
};

constexpr int most_rounds = 100000;
constexpr double longest_turn_s = 60;

struct Arguments {
  Options options;  // of the job, the library and verification
  Mesh mesh;
  std::vector<Pattern> patterns;
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;  // of patterns that reduce
  int rounds = 10;
  double turn_s = 0.1;  // of the timed calls of a turn
  std::string file;     // of the results; empty: none
  bool help = false;
};

// Reads "tp:all_reduce:1M,dp:reduce_scatter:64M". Throws UsageError.
std::vector<Pattern> parse_patterns(const std::string& list);

void declare_flags(FlagSet& set, Arguments& arguments);
ProgramTexts texts();
// Throws UsageError, also if the mesh lacks a pattern's dimension, or if a pattern's program does not
// take the type or the operation.
Arguments parse(const std::vector<std::string>& words);

}  // namespace ccl_tests::mesh
