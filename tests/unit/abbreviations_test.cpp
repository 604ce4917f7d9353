// Long flags are shortened as getopt_long does it, which reads nccl-tests' command line.
#include <getopt.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "src/options/command_line.hpp"
#include "src/options/flags.hpp"
#include "src/options/settings.hpp"
#include "tests/unit/command_line.hpp"

namespace ccl_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

// nccl-tests' flags.
constexpr option flags[] = {{"nthreads", 1, nullptr, 't'},
                            {"ngpus", 1, nullptr, 'g'},
                            {"minbytes", 1, nullptr, 'b'},
                            {"maxbytes", 1, nullptr, 'e'},
                            {"stepbytes", 1, nullptr, 'i'},
                            {"stepfactor", 1, nullptr, 'f'},
                            {"iters", 1, nullptr, 'n'},
                            {"agg_iters", 1, nullptr, 'm'},
                            {"warmup_iters", 1, nullptr, 'w'},
                            {"run_cycles", 1, nullptr, 'N'},
                            {"parallel_init", 1, nullptr, 'p'},
                            {"check", 1, nullptr, 'c'},
                            {"op", 1, nullptr, 'o'},
                            {"datatype", 1, nullptr, 'd'},
                            {"root", 1, nullptr, 'r'},
                            {"blocking", 1, nullptr, 'z'},
                            {"stream_null", 1, nullptr, 'y'},
                            {"timeout", 1, nullptr, 'T'},
                            {"cudagraph", 1, nullptr, 'G'},
                            {"report_cputime", 1, nullptr, 'C'},
                            {"report_timestamps", 1, nullptr, 'S'},
                            {"output_file", 1, nullptr, 'J'},
                            {"average", 1, nullptr, 'a'},
                            {"local_register", 1, nullptr, 'R'},
                            {"cta_policy", 1, nullptr, 'x'},
                            {"device_implementation", 1, nullptr, 'D'},
                            {"device_cta_count", 1, nullptr, 'V'},
                            {"memory", 1, nullptr, 'M'},
                            {"unalign", 1, nullptr, 'u'},
                            {"per_iter_timing", 1, nullptr, 'I'},
                            {"per_iter_skip", 1, nullptr, 'K'},
                            {"help", 0, nullptr, 'h'},
                            {nullptr, 0, nullptr, 0}};

// Returns the short name, or '?' for a word that is ambiguous.
char by_getopt(const std::string& word) {
  std::string program = "all_reduce_perf", flag = "--" + word, value = "1";
  char* arguments[] = {program.data(), flag.data(), value.data(), nullptr};
  optind = 0;  // glibc begins anew
  opterr = 0;
  return static_cast<char>(getopt_long(3, arguments, "", flags, nullptr));
}

// Returns the short name, or the message of the UsageError.
std::string by_us(const std::string& word) {
  const ProgramFlags declared(collectives::all_reduce);
  try {
    const CommandLine line = read_command_line(declared.set, {"--" + word, "1"});
    return line.given.empty() ? "unknown" : line.given.front().flag->names.front();
  } catch (const UsageError& e) {
    return e.what();
  }
}

TEST(Abbreviations, OfNcclTestsFlagsMeanWhatGetoptSays) {
  int ambiguous = 0;
  for (const option* flag = flags; flag->name != nullptr; ++flag) {
    const std::string name = flag->name;
    for (std::size_t n = 1; n <= name.size(); ++n) {
      const std::string word = name.substr(0, n);
      if (word == "data") continue;  // a flag of the suite's, which refuses types
      const char meant = by_getopt(word);
      if (meant != '?') {
        EXPECT_EQ(by_us(word), std::string("-") + meant) << word;
        continue;
      }
      ++ambiguous;
      EXPECT_THAT(by_us(word), StartsWith("'--" + word + "' is ambiguous; accepted: "));
      EXPECT_THAT(by_us(word), HasSubstr("--" + name));
    }
  }
  EXPECT_GT(ambiguous, 20);
  EXPECT_EQ(by_us("data"), "--data");
}

TEST(Abbreviations, AreRefusedWithAllThatTheyCouldMean) {
  EXPECT_EQ(refusal({"--per", "1"}),
            "'--per' is ambiguous; accepted: --per_iter_timing, --per_iter_skip");
  EXPECT_EQ(refusal({"--ti", "5"}), "(accepted)");  // --timeout before our --time-budget
  EXPECT_EQ(refusal({"-np", "2"}), "'-np' has one dash; accepted: --np");
  EXPECT_THAT(refusal({"--minbyt=x"}), StartsWith("-b: 'x' is not a size"));
}

TEST(Abbreviations, AreKeptAsTheWholeFlag) {
  const Options brief = read({"--minb", "8", "--maxb=64", "--it", "5", "--warm", "2", "--dat",
                              "fp16", "--lab", "x", "--outp", "a.csv"});
  const Options whole = read(
      {"-b", "8", "-e", "64", "-n", "5", "-w", "2", "-d", "half", "--label", "x", "-J", "a.csv"});
  EXPECT_EQ(brief.given, whole.given);
  EXPECT_THAT(brief.given, ElementsAre("-b", "-e", "-n", "-w", "-d", "--label", "-J"));
  EXPECT_EQ(recorded_settings(collectives::all_reduce, brief),
            recorded_settings(collectives::all_reduce, whole));
  EXPECT_TRUE(brief.measure.batch && brief.measure.warmup_given);
}

}  // namespace
}  // namespace ccl_tests
