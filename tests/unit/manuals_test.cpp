// What the build makes of the flags: completion of the shells, and manual pages.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "collectives/collectives.hpp"
#include "src/core/quote.hpp"
#include "src/options/flags.hpp"
#include "src/options/program_texts.hpp"
#include "src/programs/program.hpp"

namespace ccl_tests {
namespace {

using testing::HasSubstr;

namespace c = collectives;

// The flags of a program, and its texts.
struct Declared : ProgramFlags {
  explicit Declared(const Collective& collective)
      : ProgramFlags(collective), texts(texts_of(collective)) {}

  ProgramTexts texts;
};

std::vector<const Collective*> every_program() {
  std::vector<const Collective*> programs(c::all().begin(), c::all().end());
  programs.push_back(&init_spec);
  return programs;
}

bool is_completed(const Flag& flag) {
  return flag.is_offered() && !flag.is_variable() && flag.page != Page::unlisted;
}

// The names of the flags in a file of bash, and in one of zsh.
std::set<std::string> in_bash(const std::string& file) {
  const std::size_t begin = file.find("flags='") + 7;
  std::istringstream words(file.substr(begin, file.find('\'', begin) - begin));
  return {std::istream_iterator<std::string>(words), {}};
}
std::set<std::string> in_zsh(const std::string& file) {
  std::set<std::string> names;
  std::istringstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("  '")) continue;
    const std::size_t begin = line.find_first_of("*)") + 1;
    names.insert(line.substr(begin, line.find_first_of("=[", begin) - begin));
  }
  return names;
}

TEST(Completion, HasTheFlagsThatTheProgramTakes) {
  for (const Collective* program : every_program()) {
    const Declared declared(*program);
    std::set<std::string> names;
    for (const Flag& flag : declared.set.all())
      if (is_completed(flag)) names.insert(flag.names.begin(), flag.names.end());
    EXPECT_EQ(in_bash(bash_completion(declared.texts, declared.set)), names) << program->name;
    EXPECT_EQ(in_zsh(zsh_completion(declared.texts, declared.set)), names) << program->name;
  }
}

TEST(Completion, OffersValuesThatTheFlagAccepts) {
  for (const Collective* program : every_program()) {
    const Declared declared(*program);
    for (const Flag& flag : declared.set.all()) {
      if (!is_completed(flag)) continue;
      for (const std::string& value : flag.values) {
        if (value.ends_with(':')) continue;  // goes on
        EXPECT_NO_THROW(flag.read(value))
            << program->name << ' ' << flag.names.front() << ' ' << value;
      }
    }
  }
}

TEST(Completion, HasValuesOfEveryFlagThatIsAName) {
  for (const Collective* program : every_program()) {
    const Declared declared(*program);
    for (const Flag& flag : declared.set.all()) {
      const bool is_name = flag.value == "NAME" || flag.value == "0|1" || flag.value == "LEVEL";
      if (!is_completed(flag) || !is_name || flag.names.front() == "--interface") continue;
      EXPECT_FALSE(flag.values.empty()) << program->name << ' ' << flag.names.front();
    }
  }
}

// A program whose texts have whatever the shells and roff read as their own.
struct Odd {
  Odd() {
    set.begin(Group::what);
    set.add_custom(
        "-x,--odd", "A:B", "a [b] 'c' \\d: --e", [](const std::string&) {},
        [] { return SettingValue("7"); });
    set.add_custom(
           "--dot", "", ".hidden", [](const std::string&) {}, [] { return SettingValue(); })
        .repeatable = true;
    texts.name = "odd_perf";
    texts.about = "tests 'odd' texts";
    texts.examples = {{"odd_perf -x 'a b'", ".quoted"}};
  }
  Odd(const Odd&) = delete;

  FlagSet set;
  ProgramTexts texts;
};

TEST(Completion, QuotesWhatZshWouldRead) {
  const Odd odd;
  EXPECT_THAT(zsh_completion(odd.texts, odd.set),
              HasSubstr(R"('(-x --odd)--odd=[a \[b\] '\''c'\'' \\d: --e]:A\:B: ')"));
  EXPECT_THAT(zsh_completion(odd.texts, odd.set), HasSubstr("'*--dot[.hidden]'"));
}

TEST(ManualPage, QuotesWhatRoffWouldRead) {
  const Odd odd;
  const std::string page = manual_page(odd.texts, odd.set, "2026-01-31");
  EXPECT_THAT(page, HasSubstr(".TH ODD_PERF 1 \"2026-01-31\" \"ccl-tests "));
  EXPECT_THAT(page, HasSubstr("odd_perf \\- tests \\(aqodd\\(aq texts\n"));
  EXPECT_THAT(page, HasSubstr("\\fB\\-x\\fR, \\fB\\-\\-odd\\fR \\fIA:B\\fR\n"));
  EXPECT_THAT(page, HasSubstr("a [b] \\(aqc\\(aq \\ed: \\-\\-e [7]\n"));
  EXPECT_THAT(page, HasSubstr("\n\\&.hidden\n"));
  EXPECT_THAT(page, HasSubstr("\n\\&.quoted\n"));
}

TEST(ManualPage, HasSectionsAndFlagsOfTheProgramAlone) {
  for (const Collective* program : every_program()) {
    const Declared declared(*program);
    const std::string page = manual_page(declared.texts, declared.set, "");
    for (const char* section :
         {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "ENVIRONMENT", "EXIT STATUS", "EXAMPLES"})
      EXPECT_THAT(page, HasSubstr(fmt::format("\n.SH {}\n", section))) << program->name;
    for (const Flag& flag : declared.set.all()) {
      if (flag.help.empty()) continue;
      std::string name;
      for (const char c : flag.names.front()) name += c == '-' ? "\\-" : std::string(1, c);
      EXPECT_EQ(page.find(fmt::format("\n\\fB{}\\fR", name)) != std::string::npos,
                flag.is_offered())
          << program->name << ' ' << flag.names.front();
    }
  }
}

TEST(Completion, WordsOfTheShellMayHaveQuotes) {
  EXPECT_EQ(shell_quoted("a'b"), "'a'\\''b'");
  EXPECT_EQ(shell_quoted(""), "''");
}

}  // namespace
}  // namespace ccl_tests
