#include "src/options/flags.hpp"

#include <algorithm>
#include <string_view>

namespace ccl_tests {
namespace {

constexpr std::string_view in_nccl_tests[] = {
    "all_gather", "all_reduce", "alltoall",       "alltoallv", "broadcast", "gather",
    "hypercube",  "reduce",     "reduce_scatter", "scatter",   "sendrecv"};

std::string unless(bool taken, const char* why) { return taken ? std::string() : why; }

}  // namespace

AcceptedFlags taken_by(const Collective& c) {
  const CollectiveFlags& takes = c.flags;
  const bool theirs = std::find(std::begin(in_nccl_tests), std::end(in_nccl_tests), c.name) !=
                      std::end(in_nccl_tests);
  const bool moves_data = !c.needs.synchronizes;
  AcceptedFlags taken;
  taken.sweep = unless(c.domain.sweeps, "times how a job starts and has no rows");
  taken.sizes = !c.domain.sweeps       ? taken.sweep
                : !moves_data          ? "moves no data and has one row"
                : c.domain.fixed_bytes ? "sends messages of one fixed size"
                                       : "";
  taken.types = unless(moves_data, "moves no data");
  taken.unalign = taken.types;
  taken.ops = unless(theirs || c.domain.reduces, "reduces nothing");
  const auto operation = parse_operation(c.name);
  taken.one_reduction =
      unless(operation && reducing_operations.has(*operation),
             c.domain.reduces ? "is made of several operations" : "reduces nothing");
  taken.roots = unless(theirs || c.domain.rooted, "has no root");
  taken.groups = unless(!c.domain.paired, "runs on pairs of ranks: use --pairs");
  taken.pairs = unless(c.domain.paired, "runs on all ranks: pingpong_perf runs on pairs");
  taken.skew = unless(takes.skew, "has no blocks whose lengths can differ");
  taken.objects = unless(takes.objects, "has no lists of objects");
  taken.tensors = unless(takes.tensors, "has no list of tensors");
  taken.buckets = unless(takes.buckets, "has no buckets");
  taken.async_operations =
      unless(takes.async_operations, "does not start operations before others end");
  taken.via = unless(takes.via, "has one way for its data");
  taken.mode = unless(!c.mode.empty(), "has one form");
  taken.matrix = unless(takes.block_matrix, "has no matrix of block sizes");
  return taken;
}

void set_program_defaults(Options& o, const Collective& collective) {
  if (!collective.domain.ops.empty()) o.sweep.ops = {collective.domain.ops.front()};
  if (!collective.domain.types.empty()) o.sweep.types = {collective.domain.types.front()};
  o.sweep.mode = collective.mode;
}

void declare_flags(FlagSet& set, Options& o, const Collective& collective, AskedTexts& asked) {
  const AcceptedFlags taken = taken_by(collective);
  declare_sizes(set, o, taken);
  declare_sweep(set, o, taken, collective);
  declare_spec(set, o, taken);
  declare_measure(set, o, taken);
  declare_check(set, o, taken);
  declare_job(set, o);
  declare_library(set, o);
  declare_output(set, o, taken, asked);
  declare_gpus(set, o, taken);
}

}  // namespace ccl_tests
