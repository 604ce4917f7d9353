#include "tools/selftest/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "src/bootstrap/launch.hpp"
#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/options/command_line.hpp"
#include "src/options/flags.hpp"
#include "src/options/values.hpp"
#include "tools/selftest/cases.hpp"

namespace ccl_tests::selftest {
namespace {

std::vector<std::string> program_names() {
  std::vector<std::string> names;
  for (const Collective* collective : tested_programs()) names.emplace_back(collective->name);
  return names;
}

std::vector<std::string> some_of(const std::string& list,
                                 const std::vector<std::string>& accepted) {
  std::vector<std::string> words = split_list(list);
  for (const std::string& word : words) {
    if (std::find(accepted.begin(), accepted.end(), word) == accepted.end())
      throw UsageError(unknown_name("name", word, accepted));
  }
  return words;
}

std::vector<FaultKind> parse_faults(const std::string& list) {
  std::vector<FaultKind> kinds;
  for (const std::string& word : some_of(list, fault_names()))
    for (const FaultKind kind : all_faults())
      if (name(kind) == word) kinds.push_back(kind);
  return kinds;
}

}  // namespace

void declare_flags(FlagSet& set, Arguments& a) {
  std::vector<std::string> types;
  for (const DataType type : all_types()) types.emplace_back(name(type));
  types.emplace_back("all");
  set.begin(Group::what);
  set.add_custom(
      "--programs", "LIST", "spoil these programs' results; names without _perf",
      [&a](const std::string& text) { a.programs = some_of(text, program_names()); },
      [&a] { return setting_of(a.programs); },
      {.by_default = "all that make one operation", .values = program_names(), .comma_list = true});
  set.add(a.types, "-d,--datatype", "LIST", "types, a comma list, or all", parse_types,
          {.by_default = "all", .values = types, .comma_list = true});
  set.add_custom(
      "--faults", "LIST", "kinds of faults to plant; --list describes them",
      [&a](const std::string& text) { a.faults = parse_faults(text); },
      [] { return SettingValue(); },
      {.by_default = "all", .values = fault_names(), .comma_list = true});
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
          parse_sizes, {.values = {"odd"}, .comma_list = true});
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
                   {"mpirun -n 3 ccl_selftest --backend mpi", "over MPI"},
                   {"ccl_selftest --np 4 --backend ./mine.so --programs all_reduce",
                    "a backend of one's own"}},
      .exits = exits,
      .description =
          {"First every program runs without a fault, and has to pass. Then one call of each row "
           "is spoiled between the library and the check, and the row has to fail."},
      .output = {},
      .related = {"all_reduce_perf", "device_check"}};
}

Arguments parse(const std::vector<std::string>& words) {
  Arguments a;
  a.sizes = default_sizes();
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
