// What --help and --help-all print.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cctype>
#include <sstream>
#include <vector>

#include "src/options/flags.hpp"
#include "src/options/program_texts.hpp"
#include "src/programs/program.hpp"
#include "tests/golden/committed.hpp"
#include "tests/unit/command_line.hpp"
#include "tests/unit/file_flags.hpp"

namespace ccl_tests {
namespace {

using testing::HasSubstr;
using testing::Not;

namespace c = collectives;
std::vector<const Collective*> every_program() {
  std::vector<const Collective*> programs(c::all().begin(), c::all().end());
  programs.push_back(&init_spec);
  return programs;
}

std::string printed(const Collective& program, const char* flag) {
  return parse_options(program, {flag}, nothing_set).print.value_or("(nothing)");
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

void expect_help(const std::string& name, const std::string& text) {
  test::expect_committed(CCL_UNIT_DIR "/help/" + name + ".txt", text);
}

TEST(Help, IsAsCommitted) {
  expect_help("all_reduce", printed(c::all_reduce, "--help"));
  expect_help("barrier", printed(c::barrier, "--help"));
  expect_help("pingpong", printed(c::pingpong, "-h"));
  expect_help("init", printed(init_spec, "--help"));
  expect_help("all_reduce_all", printed(c::all_reduce, "--help-all"));
  expect_help("barrier_all", printed(c::barrier, "--help-all"));
}

TEST(Help, IsOnePageInEveryProgram) {
  for (const Collective* program : every_program()) {
    const std::string page = printed(*program, "--help");
    EXPECT_LE(lines_of(page).size(), 40U) << page;
    for (const char* flag : {"--help", "--help-all"}) {
      for (const std::string& line : lines_of(printed(*program, flag)))
        EXPECT_LE(line.size(), 100U) << program->name << ": " << line;
    }
    EXPECT_THAT(page, HasSubstr("Exit codes: 0 passed"));
    EXPECT_FALSE(program->about.empty()) << program->name;
  }
}

TEST(Help, HasNoLongLineThoughAnExampleIsLong) {
  ProgramTexts texts = texts_of(c::all_reduce);
  const std::string command(85, 'x');
  texts.examples = {{command, "has a meaning of its own"}, {"short", "one more"}};
  const std::string page = help_all(texts, FlagSet());
  EXPECT_THAT(page, HasSubstr(fmt::format("  {}\n      has a meaning of its own\n", command)));
  EXPECT_THAT(page, HasSubstr(fmt::format("  {:85}  one more\n", "short")));
}

bool names(const std::string& text, const std::string& flag) {
  const auto is_end = [](char c) { return std::string(" ,|\n").find(c) != std::string::npos; };
  for (std::size_t at = text.find(flag); at != std::string::npos; at = text.find(flag, at + 1)) {
    if (std::isspace(static_cast<unsigned char>(text[at - 1])) != 0 &&
        is_end(text[at + flag.size()]))
      return true;
  }
  return false;
}

TEST(Help, HasTheFlagsThatTheProgramTakes) {
  for (const Collective* program : every_program()) {
    const ProgramFlags flags(*program);
    const std::string page = printed(*program, "--help");
    const std::string all = printed(*program, "--help-all");
    for (const Flag& flag : flags.set.all()) {
      if (flag.help.empty()) continue;
      const std::string& name = flag.names.front();
      const bool taken = flag.missing.empty();
      EXPECT_EQ(names(all, flag.is_variable() ? name : "  " + name), taken)
          << program->name << ' ' << name;
      if (!taken || flag.is_variable() || name == "--help-all") continue;
      EXPECT_EQ(names(page, name), flag.page != Page::unlisted) << program->name << ' ' << name;
    }
  }
}

TEST(Help, GroupsWithoutFlagsVanish) {
  EXPECT_THAT(printed(c::barrier, "--help-all"), Not(HasSubstr("\nSizes\n")));
  EXPECT_THAT(printed(c::barrier, "--help"), Not(HasSubstr("\nWhat runs\n")));
  EXPECT_THAT(printed(init_spec, "--help-all"), Not(HasSubstr("\nMeasuring\n")));
}

TEST(Help, ComesEvenIfTheRestOfTheLineIsWrong) {
  EXPECT_THAT(parse({"--foo", "-n", "x", "--help"}).print.value_or(""), HasSubstr("Usage: "));
}

// What is not recorded has no effect on results.
TEST(Help, EveryOtherFlagIsRecordedInFiles) {
  const ProgramFlags flags(c::all_reduce);
  std::vector<std::string> unrecorded;
  for (const Flag& flag : flags.set.all())
    if (flag.recorded.empty()) unrecorded.push_back(flag.names.front());
  EXPECT_THAT(
      unrecorded,
      testing::ElementsAre(
          "NCCL_TESTS_SPLIT_MASK", "NCCL_TESTS_SPLIT", "NCCL_TESTS_ALLTOALLV_MATRIX_FILE",
          "NCCL_TESTS_ALLTOALLV_MATRIX_SCALE", "NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY", "--digests",
          "-J", "--stats", "--raw", "--explain", "--verdict", "--exit-codes", "--heartbeat",
          "--verbose", "--version", "-h", "--help-all", "CCL_MONITOR_VERDICT", "-D", "-V"));
}

TEST(Help, EveryFlagThatNamesAFileSaysWhatBecomesOfIt) {
  for (const Collective* program : every_program())
    test::expect_uses_of_files(ProgramFlags(*program).set);
}

}  // namespace
}  // namespace ccl_tests
