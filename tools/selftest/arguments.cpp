#include "tools/selftest/arguments.hpp"

#include <fmt/format.h>

#include "collectives/collectives.hpp"
#include "src/bootstrap/launch.hpp"
#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/options/command_line.hpp"
#include "src/options/flags.hpp"
#include "src/options/values.hpp"

namespace ccl_tests::selftest {
namespace {

std::vector<std::string> program_names() {
  std::vector<std::string> names;
  for (const Collective* collective : tested_programs()) names.emplace_back(collective->name);
  return names;
}

std::vector<FaultKind> parse_faults(const std::string& list) {
  const auto parse = name_of(std::vector<FaultKind>(all_faults().begin(), all_faults().end()));
  std::vector<FaultKind> kinds;
  for (const std::string& word : split_list(list)) kinds.push_back(parse(word));
  return kinds;
}

}  // namespace

std::vector<const Collective*> tested_programs() {
  std::vector<const Collective*> programs;
  for (const Collective* collective : collectives::all()) {
    const Needs& needs = collective->needs;
    const bool one_operation = needs.operations.empty()
                                   ? parse_operation(collective->name).has_value()
                                   : needs.operations.list() == std::vector{OperationId::transfer};
    if (one_operation && !needs.synchronizes && !needs.own_buffers && !collective->domain.paired)
      programs.push_back(collective);
  }
  return programs;
}

void declare_flags(FlagSet& set, Arguments& a) {
  set.begin(Group::what);
  set.add(a.programs, "--programs", "LIST", "spoil these programs' results; names without _perf",
          [](const std::string& list) {
            std::vector<std::string> words = split_list(list);
            for (const std::string& word : words) parse_name(word, program_names());
            return words;
          },
          {.by_default = "all that make one operation"});
  set.add(a.types, "-d,--datatype", "LIST", "types, a comma list, or all", parse_types,
          {.by_default = "all"});
  set.add(a.faults, "--faults", "LIST", "kinds of faults to plant; --list describes them",
          parse_faults, {.by_default = "all"});
  set.add(a.fault_bytes, "-b,--bytes", "SIZE", "size of the rows that are spoiled",
          [](const std::string& text) {
            const std::size_t bytes = parse_size(text);
            constexpr std::size_t least = 4096;
            if (bytes < least)
              throw UsageError(fmt::format("{}; accepted: 4K and above", quote(text)));
            return bytes;
          });
  set.add(a.sizes, "--sizes", "LIST",
          "sizes of the rows that are not spoiled and have to pass; odd: 25 next to powers of two",
          parse_sizes);
  declare_data(set, a.options.check, {});
  set.add(a.options.check.seed, "--seed", "N", "seed of the data patterns", in_range(0, 1 << 30));
  set.add(a.list, "--list", "", "print the kinds of faults and what they do, then exit",
          zero_or_one());
  declare_job(set, a.options);
  declare_library(set, a.options);
  AcceptedFlags taken;
  taken.sweep = "has rows of its own";
  declare_gpus(set, a.options, taken);
  set.begin(Group::output);
  set.add(a.help, "-h,--help", "", "print this help", zero_or_one());
}

ProgramTexts texts() {
  static constexpr ExitText exits[] = {{"0", "every fault was found, and nothing else"},
                                       {"2", "usage"},
                                       {"3", "unsupported here"},
                                       {"4", "a library or a peer failed"},
                                       {"5", "timed out"},
                                       {"7", "a fault was missed, or data were wrong without one"}};
  return {
      .name = "ccl_selftest",
      .about = "spoils results on purpose and counts what verification finds",
      .operands = {},
      .examples = {{"ccl_selftest --np 4 --backend gloo", "every program, type and kind of fault"},
                   {"ccl_selftest --np 3 --backend gloo --data wide", "faults of arithmetic"},
                   {"mpirun -n 3 ccl_selftest --backend mpi", "over MPI"},
                   {"ccl_selftest --np 4 --backend ./mine.so --programs all_reduce",
                    "a backend of one's own"}},
      .exits = exits};
}

Arguments parse(const std::vector<std::string>& words) {
  Arguments a;
  // No data, less than an element of some types, odd, a page and its neighbours, primes.
  a.sizes = {0, 1, 8, 24, 4088, 4096, 4104, 8 * 1009, 8 * 65539};
  FlagSet set;
  declare_flags(set, a);
  a.help = !read_flags(set, read_command_line(set, words), "ccl_selftest");
  if (!a.help) read_variables(set, process_environment());
  if (a.types.empty()) a.types.assign(all_types().begin(), all_types().end());
  if (a.faults.empty()) a.faults.assign(all_faults().begin(), all_faults().end());
  if (a.programs.empty()) a.programs = program_names();
  return a;
}

}  // namespace ccl_tests::selftest
