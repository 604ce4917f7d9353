#include "src/options/program_texts.hpp"

#include <fmt/format.h>

#include "src/options/flags.hpp"

namespace ccl_tests {
namespace {

constexpr GroupTitle groups[] = {{Group::sizes, "Sizes", "sizes"},
                                 {Group::what, "What runs", "runs"},
                                 {Group::measuring, "Measuring", "time"},
                                 {Group::checking, "Checking", "check"},
                                 {Group::ranks, "Ranks and launching", "ranks"},
                                 {Group::library, "Library", "library"},
                                 {Group::output, "Output and limits", "output"},
                                 {Group::gpus, "GPUs", "GPU"},
                                 {Group::variables, "Environment variables", ""}};

constexpr ExitText exits[] = {{"0", "passed"},
                              {"2", "usage"},
                              {"3", "unsupported here"},
                              {"4", "a library or a peer failed"},
                              {"5", "timed out"},
                              {"6", "slower than a limit"},
                              {"7", "wrong or varying data"},
                              {"8", "inconclusive"},
                              {"128 + signal", "when interrupted"}};

std::vector<Example> examples_of(const Collective& c, const std::string& program) {
  const AcceptedFlags taken = taken_by(c);
  const bool sizes = taken.sizes.empty();
  const std::string sweep = program + (sizes ? " -b 8 -e 64M" : "");
  std::vector<Example> all = {
      {sweep, sizes ? "this machine, 8 B, 16 B, ... 64 MiB" : "this machine"},
      {sweep + " --np 4 -J run.jsonl", "4 local processes; writes a file"},
      {fmt::format("mpirun -n 4 {} --backend mpi", sweep), "MPI starts ranks and moves data"}};
  if (!sizes) {
    if (c.domain.sweeps)
      all.push_back({program + " -n 1000 -I 1", "with statistics of single calls"});
    return all;
  }
  if (c.domain.paired) {
    all.push_back({program + " --np 4 --pairs all --sizes 1M", "which pair is slow?"});
  } else if (c.domain.types.empty()) {
    const bool all_ops = c.domain.reduces && c.domain.ops.empty();
    all.push_back({fmt::format("{} -b 1M -e 1M -d all{}", program, all_ops ? " -o all" : ""),
                   all_ops ? "is every type and operation right?" : "is every type right?"});
  }
  all.push_back({program + " --sizes 64M --min-busbw 64M:1.0", "CI gate: exit 6 below 1.0 GB/s"});
  return all;
}

std::vector<std::string> description_of(const Collective& c) {
  const char* const ranks =
      "The ranks are threads of the process. With --np they are local processes; under mpirun, srun "
      "or torchrun they are the processes of the job. --backend names the library under test.";
  if (!c.domain.sweeps)
    return {
        "Starts a job as the other programs of ccl-tests do, and times it: until all ranks have met, "
        "until the library has connected them, and the first two operations. Each time is the "
        "slowest rank's, in milliseconds.",
        ranks};
  if (c.needs.synchronizes)
    return {
        fmt::format("Runs {} over a communication library, checks by time that no rank leaves "
                    "before the last one enters, and prints a row with the time of an operation.",
                    c.name),
        ranks};
  return {
      fmt::format("Runs {} over a communication library, checks every result bit for bit, and "
                  "prints a row for each message size: the time of an operation and the "
                  "bandwidths that follow from it, with two buffers (out of place) and with one "
                  "(in place).",
                  c.name),
      "Flags and columns that nccl-tests has, too, mean the same.", ranks};
}

}  // namespace

ProgramTexts texts_of(const Collective& c) {
  ProgramTexts texts;
  texts.name = fmt::format("{}_perf", c.name);
  texts.about = !c.domain.sweeps ? fmt::format("times {}", c.about)
                                 : fmt::format("tests and times {}{}{}", c.name,
                                               c.about.empty() ? "" : ": ", c.about);
  texts.examples = examples_of(c, texts.name);
  texts.exits = exits;
  texts.description = description_of(c);
  texts.related = {"ccl_compare", c.domain.sweeps ? "init_perf" : "all_reduce_perf"};
  return texts;
}

std::span<const GroupTitle> group_titles() { return groups; }

}  // namespace ccl_tests
