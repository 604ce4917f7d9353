// The declarations of all flags and variables, by consumer: a new flag is a line in one of these.
#pragma once

#include <string>

#include "src/core/collective.hpp"
#include "src/options/flag.hpp"
#include "src/options/options.hpp"

namespace ccl_tests {

// A program's reasons not to take a kind of flags, for example "has no root"; empty: it takes
// them. nccl-tests' flags stay accepted by the programs that nccl-tests has: scripts pass
// all of them to every program.
struct AcceptedFlags {
  std::string sweep;  // everything about rows
  std::string sizes, types, ops, roots, unalign, groups, pairs, one_reduction;
  std::string skew, objects, tensors, buckets, async_operations, via, mode, matrix;
};
AcceptedFlags taken_by(const Collective& collective);

// The texts that --help and the like ask for.
struct AskedTexts {
  bool help = false, help_all = false, version = false;
};

void declare_sizes(FlagSet& set, Options& o, const AcceptedFlags& taken);
void declare_sweep(FlagSet& set, Options& o, const AcceptedFlags& taken,
                   const Collective& collective);
void declare_spec(FlagSet& set, Options& o, const AcceptedFlags& taken);
void declare_measure(FlagSet& set, Options& o, const AcceptedFlags& taken);
void declare_check(FlagSet& set, Options& o, const AcceptedFlags& taken);
void declare_job(FlagSet& set, Options& o);
void declare_library(FlagSet& set, Options& o);
void declare_output(FlagSet& set, Options& o, const AcceptedFlags& taken, AskedTexts& asked);
void declare_gpus(FlagSet& set, Options& o, const AcceptedFlags& taken);

// Sets the defaults that depend on the program.
void set_program_defaults(Options& o, const Collective& collective);

// Declares all of them, in the order of --help-all. `o` and `asked` outlive the set.
void declare_flags(FlagSet& set, Options& o, const Collective& collective, AskedTexts& asked);

// Sets -f to 1 if -i stands alone. Throws UsageError, Unsupported for options that contradict each
// other or mean nothing together.
void check_combinations(const Collective& collective, Options& options);

}  // namespace ccl_tests
