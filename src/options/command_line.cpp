#include "src/options/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <map>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/options/values.hpp"

namespace ccl_tests {
namespace {

struct Candidate {
  std::string name;
  bool of_nccl_tests;
};

std::vector<Candidate> beginning_with(const FlagSet& set, const std::string& start) {
  std::vector<Candidate> found;
  for (const Flag& flag : set.all()) {
    if (!flag.read || flag.is_variable()) continue;
    const auto begins = [&](const std::string& name) { return name.starts_with(start); };
    const auto name = std::find_if(flag.names.begin(), flag.names.end(), begins);
    if (name != flag.names.end()) {
      // All other flags with a letter are nccl-tests'.
      found.push_back({*name, flag.names.front().size() == 2 && !flag.rccl_tests});
    }
  }
  return found;
}

// The full name of a long flag; an unknown one stays as it is.
std::string completed(const FlagSet& set, const std::string& name) {
  if (set.find(name) != nullptr) return name;
  std::vector<Candidate> found = beginning_with(set, name);
  if (found.size() > 1) {
    const auto ours = [](const Candidate& c) { return !c.of_nccl_tests; };
    if (!std::all_of(found.begin(), found.end(), ours)) std::erase_if(found, ours);
  }
  if (found.empty()) return name;
  if (found.size() == 1) return found.front().name;
  std::vector<std::string> names;
  for (const Candidate& c : found) names.push_back(c.name);
  throw UsageError(
      fmt::format("{} is ambiguous; accepted: {}", quote(name), fmt::join(names, ", ")));
}

std::vector<std::string> with_full_names(const FlagSet& set,
                                         const std::vector<std::string>& arguments) {
  std::vector<std::string> result;
  bool is_value = false;  // of the flag before
  for (const std::string& word : arguments) {
    result.push_back(word);
    const bool is_long = word.starts_with("--") && word.size() > 2;
    const bool is_short = !is_long && word.starts_with('-') && word.size() == 2;
    // getopt reads -np as -n with the value p.
    const bool one_dash = !is_value && !is_long && word.size() > 2 && word.starts_with('-');
    if (one_dash && set.find('-' + word) != nullptr)
      throw UsageError(fmt::format("{} has one dash; accepted: -{}", quote(word), word));
    if (is_value || (!is_long && !is_short)) {
      is_value = false;
      continue;
    }
    const std::size_t equals = is_long ? std::min(word.find('='), word.size()) : word.size();
    const std::string name = word.substr(0, equals);
    const std::string full = is_long ? completed(set, name) : name;
    result.back() = full + word.substr(equals);
    const Flag* const flag = set.find(full);
    if (flag != nullptr && !flag->has_value() && equals < word.size())
      throw UsageError(
          fmt::format("{}: {}; accepted: {} alone", full, quote(word.substr(equals + 1)), full));
    is_value = flag != nullptr && flag->has_value() && equals == word.size();
  }
  if (is_value)
    throw UsageError(fmt::format("{}: no value; accepted: {} {}", arguments.back(),
                                 arguments.back(), set.find(result.back())->value));
  return result;
}

// What rccl-tests' own flags are here (ROCm/rocm-systems, projects/rccl-tests/src/common.cu); empty: not one of them.
std::string rccl_flag(const std::string& name) {
  struct Flag {
    std::string_view letter, word, here;
  };
  constexpr Flag flags[] = {
      {"-Y", "--memory_type", "--memory host or cuda says where buffers lie"},
      {"", "--cumask", "GPUs here have no masks of compute units"},
      {"-A", "", "--show-algorithm prints what the library chose for each row"},
      {"-X", "--output_file_name", "-J FILE.json or FILE.csv writes a file"},
      {"-Z", "--output_format", "-J FILE.json or FILE.csv writes a file"},
      {"-F", "--cache_flush", "--cache cold has each call find its data in no cache"},
      {"-E", "--rotating_tensor", "--cache rotate has calls use other memory in turns"},
      {"-q", "--delay_inout_place", "nothing waits between placements"},
      {"-s", "--stress_cycles", "-N repeats the run, --duration for a time"}};
  for (const Flag& flag : flags)
    if (name == flag.letter || name == flag.word)
      return fmt::format("{} is rccl-tests'; here {}", name, flag.here);
  return {};
}

}  // namespace

CommandLine read_command_line(const FlagSet& set, const std::vector<std::string>& arguments) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::map<const CLI::Option*, const Flag*> flags;
  for (const Flag& flag : set.all()) {
    if (!flag.read || flag.is_variable()) continue;
    const std::string names = fmt::format("{}", fmt::join(flag.names, ","));
    CLI::Option* const option = flag.has_value() ? app.add_option(names) : app.add_flag(names);
    if (flag.has_value()) option->expected(1)->type_name(flag.value);
    option->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    flags[option] = &flag;
  }
  const std::vector<std::string> full = with_full_names(set, arguments);
  try {
    app.parse(std::vector<std::string>(full.rbegin(), full.rend()));
  } catch (const CLI::ParseError& e) {
    std::string line = e.what();
    std::replace(line.begin(), line.end(), '\n', ' ');
    throw UsageError(line + "; accepted: one value after the flag");
  }
  CommandLine line{{}, app.remaining()};
  for (const CLI::Option* option : app.parse_order()) {
    const Flag* const flag = flags.at(option);
    const auto same = [&](const GivenFlag& given) { return given.flag == flag; };
    if (std::any_of(line.given.begin(), line.given.end(), same)) continue;
    line.given.push_back(
        {flag, flag->has_value() ? option->results() : std::vector<std::string>{"1"}});
  }
  return line;
}

void refuse_unknown(const FlagSet& set, const CommandLine& line) {
  if (line.unknown.empty()) return;
  const std::string& word = line.unknown.front();
  const std::string name = word.substr(0, word.find('='));
  if (!word.starts_with('-'))
    throw UsageError(fmt::format("{} belongs to no option; see --help", quote(word)));
  if (const std::string theirs = rccl_flag(name); !theirs.empty()) throw UsageError(theirs);
  std::vector<std::string> names;
  for (const Flag& flag : set.all()) {
    if (!flag.missing.empty() || !flag.read || flag.is_variable()) continue;
    for (const std::string& known : flag.names)
      if (known.starts_with("--")) names.push_back(known.substr(2));
  }
  const auto meant =
      name.starts_with("--") ? suggestion(name.substr(2), names) : std::optional<std::string>();
  throw UsageError(fmt::format("unknown option {}{} see --help", quote(name),
                               meant ? fmt::format(", did you mean '--{}'?", *meant) : ";"));
}

void read_flag(const GivenFlag& given, const std::string& program) {
  const Flag& flag = *given.flag;
  const std::string& name = flag.names.front();
  if (!flag.missing.empty())
    throw UsageError(fmt::format("{}: {} {}; see --help", name, program, flag.missing));
  try {
    for (const std::string& text : given.texts) flag.read(text);
  } catch (const UsageError& e) {
    throw UsageError(name + ": " + e.what());
  }
}

std::vector<std::string> read_variables(const FlagSet& set, const GetVariable& environment) {
  std::vector<std::string> given;
  for (const Flag& flag : set.all()) {
    if (!flag.is_variable()) continue;
    const std::string& name = flag.names.front();
    const auto text = environment(name.c_str());
    if (!text) continue;
    given.push_back(name);
    if (!flag.read) continue;
    try {
      flag.read(*text);
    } catch (const UsageError& e) {
      throw UsageError(name + ": " + e.what());
    }
  }
  return given;
}

bool read_flags(const FlagSet& set, const CommandLine& line, const std::string& program) {
  for (const GivenFlag& given : line.given)
    if (given.flag->names.front() == "-h") return false;
  for (const GivenFlag& given : line.given) read_flag(given, program);
  refuse_unknown(set, line);
  return true;
}

}  // namespace ccl_tests
