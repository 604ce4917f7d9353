#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/version.hpp"
#include "src/options/alltoallv_options.hpp"
#include "src/options/command_line.hpp"
#include "src/options/flags.hpp"
#include "src/options/program_texts.hpp"

namespace ccl_tests {
namespace {

// Reads the flags that ask for a text even if the rest of the line is wrong.
std::optional<std::string> asked_text(const Collective& collective, const FlagSet& set,
                                      const CommandLine& line, const AskedTexts& asked) {
  for (const GivenFlag& given : line.given) {
    if (!given.flag->has_value() && given.flag->missing.empty()) given.flag->read("1");
  }
  if (asked.help_all) return help_all(texts_of(collective), set);
  if (asked.help) return help_page(texts_of(collective), set);
  if (asked.version)
    return fmt::format("ccl-tests {}{}\n", version(),
                       *revision() == 0 ? "" : fmt::format(" ({})", revision()));
  return std::nullopt;
}

// Flags that say how nccl-tests' batch is to be made.
bool asks_for_batch(std::string_view flag) {
  constexpr std::string_view flags[] = {"-n", "-m", "-w", "-z", "-C", "-I", "-K", "-G"};
  return std::find(std::begin(flags), std::end(flags), flag) != std::end(flags);
}

}  // namespace

Parsed parse_options(const Collective& collective, const std::vector<std::string>& arguments,
                     const GetVariable& environment) {
  Parsed parsed;
  Options& o = parsed.options;
  AskedTexts asked;
  FlagSet set;
  set_program_defaults(o, collective);
  declare_flags(set, o, collective, asked);
  const CommandLine line = read_command_line(set, arguments);
  parsed.print = asked_text(collective, set, line, asked);
  if (parsed.print) return parsed;
  const std::string program = fmt::format("{}_perf", collective.name);
  for (const GivenFlag& given : line.given) {
    read_flag(given, program);
    o.given.push_back(given.flag->names.front());
    if (o.given.back() == "-w") o.measure.warmup_given = true;
    o.measure.batch = o.measure.batch || asks_for_batch(o.given.back());
  }
  refuse_unknown(set, line);
  for (std::string& name : read_variables(set, environment)) o.given.push_back(std::move(name));
  read_alltoallv_options(environment, o.spec);
  if (collective.domain.sweeps) check_combinations(collective, o);
  return parsed;
}

const Collective& in_mode(const Collective& collective, std::string_view mode) {
  for (const Collective* form : collective.modes) {
    if (form->mode == mode) return *form;
  }
  return collective;
}

}  // namespace ccl_tests
