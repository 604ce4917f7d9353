// The command line of ccl_replay.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/options/flag.hpp"
#include "src/options/options.hpp"
#include "src/options/program_texts.hpp"
#include "tools/replay/trace_file.hpp"

namespace ccl_tests::replay {

// tight: each call follows the one before. original: no call begins before its time in the trace.
enum class Timing { tight, original };
constexpr std::string_view name(Timing timing) {
  return timing == Timing::tight ? "tight" : "original";
}

struct Arguments {
  Options options;    // of the job and the library
  std::string trace;  // a name with {rank}, or a pattern (sorted)
  bool sorted = false;
  Timing timing = Timing::tight;
  int ranks = 0;  // of the job that replays; 0: as many as the traces
  int passes = 1;
  std::size_t max_calls = 200'000;  // of one rank
  bool list = false, help = false;
};

void declare_flags(FlagSet& set, Arguments& arguments);
ProgramTexts texts();
// Throws UsageError.
Arguments parse(const std::vector<std::string>& words);

// Returns the traces that are here, by rank. A file is empty if a higher rank has one and this has
// not. Throws UsageError if there is none, Error if one cannot be read.
std::vector<TracePlace> trace_places(const Arguments& arguments);
// Returns a rank's trace, of `places` or the file that has its number here. Throws UsageError if
// there is none.
TracePlace place_of(const Arguments& arguments, const std::vector<TracePlace>& places, int rank);

}  // namespace ccl_tests::replay
