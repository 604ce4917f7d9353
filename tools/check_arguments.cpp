#include "tools/check_arguments.hpp"

#include <fmt/format.h>

#include <utility>

#include "src/core/error.hpp"
#include "src/core/output_file.hpp"
#include "src/core/quote.hpp"
#include "src/options/command_line.hpp"
#include "src/options/values.hpp"

namespace ccl_tests::tools {
namespace {

std::size_t longest_row(const std::string& text) {
  constexpr std::size_t least = 1 << 16;
  const std::size_t bytes = parse_size(text);
  if (bytes < least)
    throw UsageError(fmt::format("{} is too short; accepted: 64K and above", quote(text)));
  return bytes;
}

std::string json_lines(const std::string& text) {
  const std::string suffix = ".jsonl";
  if (const std::string advice = piping_advice(text); !advice.empty())
    throw UsageError(fmt::format("{}: {}", quote(text, shown_path_characters), advice));
  if (text.size() <= suffix.size() || !text.ends_with(suffix))
    throw UsageError(fmt::format("{}; accepted: a file name that ends in {}",
                                 quote(text, shown_path_characters), suffix));
  return text;
}

}  // namespace

void declare_flags(FlagSet& set, CheckArguments& a) {
  set.begin(Group::what);
  set.add(a.memory, "--memory", "NAME", "memory to check: cuda, or host",
          name_of<Memory>({Memory::cuda, Memory::host}));
  set.add(a.device, "--device", "N", "device to check, of those that are visible",
          in_range(0, 1024));
  set.add(a.list, "--list", "", "print the devices, one a line, then exit", zero_or_one());
  set.add(a.types, "-d,--datatype", "LIST", "types, a comma list, or all", parse_types,
          {.by_default = "all"});
  set.begin(Group::checking);
  set.add(a.check.max_bytes, "-e,--maxbytes", "SIZE", "longest row that is checked", longest_row);
  set.add(a.check.seed, "--seed", "N", "seed of the data and the faults", in_range(0, 1 << 30));
  set.add(a.check.quick, "--quick", "", "fewer operations, lengths and faults", zero_or_one());
  set.begin(Group::ranks, "has no ranks and checks one GPU (--device N)");
  for (const auto& [names, value] : {std::pair("--share-gpus", ""), std::pair("--np", "N"),
                                     std::pair("-t,--nthreads", "N"), std::pair("-g,--ngpus", "N")})
    set.add_custom(
        names, value, "", [](const std::string& /*text*/) {}, [] { return SettingValue(); });
  set.begin(Group::output);
  set.add(a.output_file, "-J,--output_file", "FILE", "also write FILE, JSON lines (.jsonl)",
          json_lines, {.file_use = FileUse::written});
  set.add(a.help, "-h,--help", "", "print this help", zero_or_one());
}

ProgramTexts check_texts() {
  static constexpr ExitText exits[] = {{"0", "passed"},
                                       {"2", "usage"},
                                       {"3", "unsupported here"},
                                       {"4", "a library failed"},
                                       {"7", "a fault was missed or right data were called wrong"}};
  return {.name = "device_check",
          .about = "holds the verifier of a memory to the host's",
          .operands = {},
          .examples = {{"device_check", "the first GPU, all types"},
                       {"device_check --memory host", "what a right verifier looks like"}},
          .exits = exits};
}

CheckArguments parse_check_arguments(const std::vector<std::string>& words) {
  CheckArguments a;
  FlagSet set;
  declare_flags(set, a);
  a.help = !read_flags(set, read_command_line(set, words), "device_check");
  return a;
}

}  // namespace ccl_tests::tools
