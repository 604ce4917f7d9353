// Whatever the command line does not take is one line that says what would be taken.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/unit/command_line.hpp"

namespace ccl_tests {
namespace {

using testing::HasSubstr;

struct Bad {
  std::string flag, value;
  std::string named;  // in the message; empty: flag
};

std::ostream& operator<<(std::ostream& out, const Bad& bad) {
  return out << bad.flag << " '" << bad.value << "'";
}

std::vector<Bad> bad_values() {
  std::vector<Bad> all;
  const auto add = [&](const std::string& flag, const std::vector<std::string>& values) {
    for (const std::string& value : values) all.push_back({flag, value, ""});
  };
  for (const char* flag : {"-t", "-g", "--np"})
    add(flag, {"0", "-1", "4097", "x", "2.5", "0x2", " 2"});
  for (const char* flag : {"-p", "-C", "-S"}) add(flag, {"2", "-1", "yes", "true"});
  const std::vector<std::string> no_sizes = {"-1",  "0x10",      "1X",    "1KK",   "1 K",
                                             "K",   "1e3",       "ten",   "1.5.5", "nan",
                                             "inf", "99999999T", "1KiBs", "8,16"};
  for (const char* flag : {"-b", "-e", "-i"}) add(flag, no_sizes);
  add("-i", {"0"});
  add("--sizes", {"8,,16", ",", "8,x", "-8", "8,0x10", "8,"});
  add("-f", {"0", "-2", "1.5", "x"});
  add("-u", {"-1", "1M", "1048577"});
  for (const char* flag : {"-n", "-w", "-N", "-c"}) {
    add(flag, {"-1", "1K", "x", "0x10", "2147483648", "99999999999999999999"});
  }
  add("-m", {"0", "-1", "x", "1048577"});
  add("-a", {"4", "-1", "avg"});
  add("-z", {"4", "-1", "x"});
  for (const char* flag : {"-T", "--row-time", "--init-timeout"}) {
    add(flag, {"-1", "x", "nan", "inf", "0x10", "1s", "1e400"});
  }
  add("--seed", {"-1", "x", "1.5"});
  add("-o", {"Sum", "sum,", "avg,x", "prd", "sum;max", "all,sum"});
  add("-d", {"float32", "int", "float,,half", "floot", "FLOAT", "all,float"});
  add("-r", {"-2", "x", "0,", "1.5", "0,-1", "all,0"});
  add("--transport", {"udp", "TCP"});
  add("--gloo-algorithm", {"tree", "rings"});
  for (const char* flag : {"--min-busbw", "--max-time"}) {
    add(flag, {"1M", "1M:", ":1", "1M:x", "1M:-1", "x:1", "1M:1:1", "0x10:1"});
  }
  for (const char* flag : {"-G", "-y", "-R", "-x", "-D", "-V", "-M", "-I", "-K"}) {
    add(flag, {"x", "-2", "1.5"});
  }
  return all;
}

class BadValue : public testing::TestWithParam<Bad> {};

TEST_P(BadValue, IsRefusedInOneLine) {
  const Bad& bad = GetParam();
  const std::string line = refusal({bad.flag, bad.value});
  EXPECT_EQ(line.rfind(bad.flag + ": ", 0), 0U) << line;
  EXPECT_THAT(line, HasSubstr("accepted: "));
  EXPECT_EQ(line.find('\n'), std::string::npos) << line;
  // What was given, or the one item of the list that is wrong.
  const std::size_t quote = line.find('\'');
  if (bad.flag == "-i" && bad.value == "0") return;
  ASSERT_NE(quote, std::string::npos) << line;
  const std::string given = line.substr(quote + 1, line.find('\'', quote + 1) - quote - 1);
  EXPECT_NE(bad.value.find(given), std::string::npos) << line;
}

INSTANTIATE_TEST_SUITE_P(Options, BadValue, testing::ValuesIn(bad_values()));

TEST(Options, UnknownFlagsAndStrayWordsAreNamed) {
  for (const char* word : {"--nonsense", "-q", "stray", "-Z", "--min-bytes"}) {
    const std::string line = refusal({word});
    EXPECT_THAT(line, HasSubstr(word));
    EXPECT_THAT(line, HasSubstr("accepted: "));
    EXPECT_EQ(line.find('\n'), std::string::npos);
  }
}

TEST(Options, UnknownWordsKeepTheirOrder) {
  EXPECT_THAT(refusal({"--itres", "5", "-n", "3"}), HasSubstr("'--itres 5'"));
}

TEST(Options, AFlagWithoutItsValueIsNamed) {
  const std::pair<const char*, const char*> flags[] = {
      {"-n", "--iters"},      {"--iters", "--iters"}, {"-b", "--minbytes"},
      {"--sizes", "--sizes"}, {"-d", "--datatype"},   {"--backend", "--backend"},
      {"-J", "--output_file"}};
  for (const auto& [flag, named] : flags) {
    const std::string line = refusal({flag});
    EXPECT_THAT(line, HasSubstr(named));
    EXPECT_THAT(line, HasSubstr("accepted: one value behind the flag"));
  }
  EXPECT_THAT(refusal({"-n", "-w", "3"}), HasSubstr("-n: '-w'"));
}

TEST(Options, EmptyValuesAreRefused) {
  for (const char* flag : {"-b", "-n", "-d", "-o", "-r", "--sizes", "--min-busbw", "-T"}) {
    EXPECT_THAT(refusal({flag, ""}), HasSubstr("accepted: ")) << flag;
  }
}

TEST(Options, CombinationsThatContradictAreRefused) {
  EXPECT_THAT(refusal({"-b", "2M", "-e", "1M"}), HasSubstr("-b: 2097152 is more than -e 1048576"));
  EXPECT_THAT(refusal({"-b", "64M"}), HasSubstr("accepted: "));
  EXPECT_THAT(refusal({"-b", "0", "-e", "1K"}), HasSubstr("accepted: with -i"));
  EXPECT_THAT(refusal({"--sizes", "8", "-b", "8"}), HasSubstr("--sizes"));
  EXPECT_THAT(refusal({"--sizes", "8", "-f", "2"}), HasSubstr("--sizes"));
  EXPECT_THAT(refusal({"-t", "4096", "-g", "2"}), HasSubstr("accepted: "));
  EXPECT_THAT(refusal({"--np", "2", "-t", "4096", "-g", "2"}), HasSubstr("accepted: "));
  EXPECT_THAT(refusal({"-b", "1", "-e", "8G", "-i", "1"}), HasSubstr("-i: "));
}

}  // namespace
}  // namespace ccl_tests
