// The declarations of all flags and variables, by consumer: a new flag is a line in one of these.
#pragma once

#include <string>

#include "src/core/collective.hpp"
#include "src/options/flag.hpp"
#include "src/options/options.hpp"

namespace ccl_tests {

// A program's reasons not to take a kind of flags, for example "moves no data"; empty: it takes them.
struct AcceptedFlags {
  std::string sweep;  // everything about rows
  std::string sizes, types, pairs;
};
AcceptedFlags taken_by(const Collective& collective);
inline std::string unless(bool taken, const char* why) { return taken ? "" : why; }
// Returns whether nccl-tests has the program. Its flags stay accepted there: scripts pass all of them to every
// program.
bool is_in_nccl_tests(const Collective& collective);

// The flags of a program, in the order of --help-all, and what they set.
struct ProgramFlags {
  explicit ProgramFlags(const Collective& collective);  // with the program's defaults
  ProgramFlags(const Collective& collective, Options given);
  ProgramFlags(const ProgramFlags&) = delete;

  Options options;
  bool help = false, help_all = false, version = false;  // the texts that are asked for
  FlagSet set;
};

void declare_sizes(FlagSet& set, Options& o, const AcceptedFlags& taken);
void declare_sweep(FlagSet& set, Options& o, const AcceptedFlags& taken, const Collective& c);
void declare_spec(FlagSet& set, Options& o, const AcceptedFlags& taken, const Collective& c);
void declare_measure(FlagSet& set, Options& o, const AcceptedFlags& taken);
void declare_check(FlagSet& set, Options& o, const AcceptedFlags& taken, const Collective& c);
// --data.
void declare_data(FlagSet& set, CheckOptions& check, const FlagProperties& properties);
// --inject of a tool.
void declare_inject(FlagSet& set, JobOptions& job);
void declare_job(FlagSet& set, Options& o);
void declare_library(FlagSet& set, Options& o);
void declare_output(ProgramFlags& flags, const AcceptedFlags& taken);
void declare_gpus(FlagSet& set, Options& o, const AcceptedFlags& taken);

// Reads a square matrix of bytes, separated by blanks, which are rounded down to 16, as nccl-tests aligns blocks.
// Throws UsageError. check_groups() compares its size with the number of ranks.
std::vector<std::vector<std::size_t>> read_matrix(const MatrixFile& matrix_file);
// Reads the file of --routing trace:FILE. Throws UsageError that names the token.
void read_trace(RoutingOptions& routing);

// Sets -f to 1 if -i stands alone. Throws UsageError, Unsupported for options that contradict each
// other or mean nothing together.
void check_combinations(const Collective& collective, Options& options);

}  // namespace ccl_tests
