#include "src/options/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/options/values.hpp"

namespace ccl_tests {
namespace {

// The full name of a long flag; an unknown one stays as it is. A tool without --help-all has all
// flags in --help.
std::string completed(const FlagSet& set, const std::string& name) {
  if (set.find(name) != nullptr) return name;
  if (name == "--help-all" && set.find("--help") != nullptr) return "--help";
  std::vector<std::string> all, of_nccl_tests;
  for (const Flag& flag : set.all()) {
    const auto found =
        std::find_if(flag.names.begin(), flag.names.end(),
                     [&](const std::string& known) { return known.starts_with(name); });
    if (found == flag.names.end()) continue;
    all.push_back(*found);
    // All other flags with a letter are nccl-tests'.
    if (flag.names.front().size() == 2 && !flag.rccl_tests) of_nccl_tests.push_back(*found);
  }
  const std::vector<std::string>& meant = of_nccl_tests.empty() ? all : of_nccl_tests;
  if (meant.size() > 1)
    throw UsageError(
        fmt::format("{} is ambiguous; accepted: {}", quote(name), fmt::join(meant, ", ")));
  return meant.empty() ? name : meant.front();
}

// Throws UsageError that begins with the name of the flag or variable.
void read_text(const Flag& flag, const std::string& text) {
  try {
    flag.read(text);
  } catch (const UsageError& e) {
    throw UsageError(flag.names.front() + ": " + e.what());
  }
}

// Sorts the words by flags, as getopt_long does.
class Sorter {
 public:
  Sorter(const FlagSet& set, const std::vector<std::string>& words) : set_(set), words_(words) {}

  CommandLine sort() {
    while (next_ < words_.size()) {
      const std::string& word = words_[next_++];
      if (word == "--") {  // only operands follow
        line_.unknown.insert(line_.unknown.end(), &word, words_.data() + words_.size());
        break;
      }
      if (word.starts_with("--") && word.size() > 2)
        take_long(word);
      else if (word.starts_with('-') && word.size() > 1)
        take_short(word);
      else
        line_.unknown.push_back(word);
    }
    return line_;
  }

 private:
  void take_long(const std::string& word) {
    const std::size_t equals = std::min(word.find('='), word.size());
    const std::string name = completed(set_, word.substr(0, equals));
    const Flag* const flag = set_.find(name);
    if (flag == nullptr)
      line_.unknown.push_back(word);
    else if (equals == word.size())
      add(*flag, flag->has_value() ? next_word(*flag, word) : "1");
    else if (flag->has_value())
      add(*flag, word.substr(equals + 1));
    else
      throw UsageError(
          fmt::format("{}: {}; accepted: {} alone", name, quote(word.substr(equals + 1)), name));
  }

  // Takes -n 3, -n3 and -hn3.
  void take_short(const std::string& word) {
    // getopt reads -np as -n with the value p.
    if (set_.find('-' + word) != nullptr)
      throw UsageError(fmt::format("{} has one dash; accepted: -{}", quote(word), word));
    for (std::size_t at = 1; at < word.size(); ++at) {
      const Flag* const flag = set_.find(std::string("-") + word[at]);
      if (flag == nullptr) return line_.unknown.push_back("-" + word.substr(at));
      if (flag->has_value())
        return add(*flag, at + 1 < word.size() ? word.substr(at + 1) : next_word(*flag, word));
      add(*flag, "1");
    }
  }

  std::string next_word(const Flag& flag, const std::string& word) {
    if (next_ == words_.size())
      throw UsageError(fmt::format("{0}: no value; accepted: {0} {1}", word, flag.value));
    return words_[next_++];
  }

  void add(const Flag& flag, std::string text) {
    const auto same = [&](const GivenFlag& given) { return given.flag == &flag; };
    const auto found = std::find_if(line_.given.begin(), line_.given.end(), same);
    if (found == line_.given.end())
      line_.given.push_back({&flag, {std::move(text)}});
    else if (flag.has_value())
      found->texts.push_back(std::move(text));
  }

  const FlagSet& set_;
  const std::vector<std::string>& words_;
  std::size_t next_ = 0;
  CommandLine line_;
};

// Returns what stands here for one of rccl-tests' own flags (ROCm/rocm-systems, projects/rccl-tests/src/common.cu); empty: it
// is none.
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

// Returns the long flag that a name was probably meant to be: whole, or its beginning up to '_' or
// '-' if no other has it.
std::optional<std::string> meant_flag(const FlagSet& set, std::string_view name) {
  std::vector<std::string> names;
  for (const Flag& flag : set.all()) {
    if (!flag.missing.empty()) continue;
    for (const std::string& known : flag.names)
      if (known.starts_with("--")) names.push_back(known.substr(2));
  }
  std::vector<std::string> choices = names;
  for (const std::string& known : names) {
    const std::string beginning = known.substr(0, known.find_first_of("_-"));
    const auto begins = [&](const std::string& other) { return other.starts_with(beginning); };
    if (std::ranges::count_if(names, begins) == 1) choices.push_back(beginning);
  }
  auto meant = suggestion(name, choices);
  if (!meant || std::ranges::count(names, *meant) > 0) return meant;
  return *std::ranges::find_if(names, [&](const auto& known) { return known.starts_with(*meant); });
}

void refuse_unknown(const FlagSet& set, const CommandLine& line) {
  if (line.unknown.empty()) return;
  const std::string& word = line.unknown.front();
  const std::string name = word.substr(0, word.find('='));
  if (!word.starts_with('-'))
    throw UsageError(fmt::format("{} belongs to no option; see --help", quote(word)));
  if (const std::string theirs = rccl_flag(name); !theirs.empty()) throw UsageError(theirs);
  const auto meant =
      name.starts_with("--") ? meant_flag(set, name.substr(2)) : std::optional<std::string>();
  throw UsageError(fmt::format("unknown option {}{} see --help", quote(name),
                               meant ? fmt::format(", did you mean '--{}'?", *meant) : ";"));
}

}  // namespace

CommandLine read_command_line(const FlagSet& set, const std::vector<std::string>& arguments) {
  return Sorter(set, arguments).sort();
}

std::vector<std::string> read_variables(const FlagSet& set, const GetVariable& environment) {
  std::vector<std::string> given;
  for (const Flag& flag : set.all()) {
    if (!flag.is_variable()) continue;
    const auto text = environment(flag.names.front().c_str());
    if (!text) continue;
    given.push_back(flag.names.front());
    read_text(flag, *text);
  }
  return given;
}

bool read_flags(const FlagSet& set, const CommandLine& line, const std::string& program) {
  for (const GivenFlag& given : line.given)
    if (given.flag->names.front() == "-h") return false;
  for (const GivenFlag& given : line.given) {
    const Flag& flag = *given.flag;
    if (!flag.missing.empty())
      throw UsageError(
          fmt::format("{}: {} {}; see --help", flag.names.front(), program, flag.missing));
    for (const std::string& text : given.texts) read_text(flag, text);
  }
  refuse_unknown(set, line);
  return true;
}

}  // namespace ccl_tests
