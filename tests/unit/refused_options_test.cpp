// Whatever the command line does not take is one line that says what would be taken.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "src/programs/program.hpp"
#include "tests/unit/command_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ccl_tests {
namespace {

using testing::HasSubstr;

// Flags, each with a value that it does not take.
std::vector<std::pair<std::string, std::string>> bad_values() {
  std::vector<std::pair<std::string, std::string>> all;
  const auto add = [&](const std::string& flag, const std::vector<std::string>& values) {
    for (const std::string& value : values) all.emplace_back(flag, value);
  };
  for (const char* flag : {"-t", "-g", "--np"})
    add(flag, {"0", "-1", "4097", "x", "2.5", "0x2", " 2"});
  for (const char* flag : {"-p", "-C", "-S"}) add(flag, {"2", "-1", "yes", "true"});
  const std::vector<std::string> no_sizes = {"-1",  "0x10", "1X",        "1KK",   "1 K",
                                             "K",   "1e",   "1.5",       "ten",   "1.5.5",
                                             "nan", "inf",  "99999999T", "1KiBs", "8,16"};
  for (const char* flag : {"-b", "-e", "-i"}) add(flag, no_sizes);
  add("-i", {"0"});
  add("--sizes", {"8,,16", ",", "8,x", "-8", "8,0x10", "8,"});
  add("-f", {"0", "-2", "1.5", "x"});
  add("-u", {"-1", "1M", "1048577"});
  for (const char* flag : {"-n", "-w", "-N", "-c"}) {
    add(flag, {"-1", "1K", "x", "0x10", "2147483648", "99999999999999999999"});
  }
  for (const char* flag : {"-w", "-c"})
    add(flag, {"2147483647", "1000000001"});  // their sum is one int
  add("--duration", {"-1", "x", "1d", "h", "1h30"});
  add("--inject", {"bits", "flipped-bit:call=0", "flipped-bit:rank=x"});
  add("-m", {"0", "-1", "x", "1048577"});
  add("-a", {"4", "-1", "avg"});
  add("-z", {"4", "-1", "x"});
  for (const char* flag : {"-T", "--row-time", "--init-timeout"}) {
    add(flag, {"-1", "x", "nan", "inf", "0x10", "1s", "1e400"});
  }
  add("--passes", {"0", "-1", "x", "1001"});
  add("--ceiling", {"0", "-1", "x", "nan", "inf", "1GB/s", "automatic"});
  add("--seed", {"-1", "x", "1.5"});
  add("--data", {"all", "float", "Wide"});
  add("--wide-bytes", {"0", "1K", "2G", "x"});
  add("-o", {"Sum", "sum,", "avg,x", "prd", "sum;max", "all,sum"});
  add("--tolerance", {"x", "-1", "20%%", "1e6"});
  add("-d", {"float32", "int", "float,,half", "floot", "FLOAT", "all,float"});
  add("-r", {"-2", "x", "0,", "1.5", "0,-1", "all,0"});
  add("--cache", {"hot", "Warm", "warm,cold", "1"});
  add("--transport", {"udp", "TCP"});
  add("--gloo-algorithm", {"tree", "rings"});
  for (const char* flag : {"--min-busbw", "--max-time"}) {
    add(flag, {"1M", "1M:", ":1", "1M:x", "1M:-1", "x:1", "1M:1:1", "1M:1:inplace", "0x10:1"});
  }
  for (const char* flag : {"-G", "-y", "-R", "-x", "-D", "-V", "-M", "-I", "-K"}) {
    add(flag, {"x", "-2", "1.5"});
  }
  return all;
}

TEST(Options, BadValuesAreRefusedInOneLine) {
  for (const auto& [flag, value] : bad_values()) {
    SCOPED_TRACE(flag + " '" + value + "'");
    const std::string line = refusal({flag, value});
    EXPECT_EQ(line.rfind(flag + ": ", 0), 0U) << line;
    EXPECT_THAT(line, HasSubstr("accepted: "));
    EXPECT_EQ(line.find('\n'), std::string::npos) << line;
    if (flag == "-i" && value == "0") continue;
    // What was given, or the one item of the list that is wrong.
    const std::size_t quote = line.find('\'');
    ASSERT_NE(quote, std::string::npos) << line;
    const std::string given = line.substr(quote + 1, line.find('\'', quote + 1) - quote - 1);
    EXPECT_NE(value.find(given), std::string::npos) << line;
  }
}

TEST(Options, UnknownFlagsAndStrayWordsAreNamed) {
  EXPECT_EQ(refusal({"--foo"}), "unknown option '--foo'; see --help");
  EXPECT_EQ(refusal({"--itres", "5", "-n", "3"}),
            "unknown option '--itres', did you mean '--iters'? see --help");
  EXPECT_EQ(refusal({"--min-bytes=8"}),
            "unknown option '--min-bytes', did you mean '--minbytes'? see --help");
  EXPECT_EQ(refusal({"--wranup", "3"}),
            "unknown option '--wranup', did you mean '--warmup_iters'? see --help");
  EXPECT_EQ(refusal({"--baskend", "gloo"}),
            "unknown option '--baskend', did you mean '--backend'? see --help");
  EXPECT_EQ(refusal({"--something", "3"}), "unknown option '--something'; see --help");
  EXPECT_EQ(refusal({"-j"}), "unknown option '-j'; see --help");
  EXPECT_EQ(refusal({"-n", "3", "stray"}), "'stray' belongs to no option; see --help");
  EXPECT_EQ(refusal({"-hjx"}), "(accepted)");  // prints the help
  EXPECT_EQ(refusal({"-n3", "-jx"}), "unknown option '-jx'; see --help");
  EXPECT_EQ(refusal({"--", "--help"}), "unknown option '--'; see --help");
}

TEST(RefusedOptions, SayTheSameOfEveryTimeThatIsNotAbove0) {
  for (const char* const text : {"-1", "0", "x"})
    EXPECT_EQ(
        refusal({"--init-timeout", text}),
        fmt::format("--init-timeout: '{}' is not accepted; accepted: a number above 0", text));
}

TEST(RefusedOptions, SayWhatRcclTestsFlagsAreHere) {
  EXPECT_EQ(refusal({"-A", "1"}),
            "-A is rccl-tests'; here --show-algorithm prints what the library chose for each row");
  EXPECT_EQ(refusal({"--memory_type", "fine"}),
            "--memory_type is rccl-tests'; here --memory host or cuda says where buffers lie");
  EXPECT_THAT(refusal({"-u", "0xff,0xff"}),
              HasSubstr("-u: '0xff,0xff' is a mask of compute units"));
  for (const char* const flag : {"-Y", "--cumask", "-X", "-Z", "-F", "-E", "-q", "-s"})
    EXPECT_THAT(refusal({flag, "1"}), HasSubstr("is rccl-tests'; here ")) << flag;
}

TEST(Options, ValuesStayOnOneLineOfBoundedLength) {
  for (const char* flag : {"-n", "-b", "-d", "--sizes", "--group", "--min-busbw", "--launcher"}) {
    for (const std::string& value : {std::string("\n\x1b[31m"), std::string(5000, 'x')}) {
      const std::string line = refusal({flag, value});
      EXPECT_EQ(line.find_first_of("\n\x1b"), std::string::npos) << line;
      EXPECT_LT(line.size(), 400U) << line;
      EXPECT_THAT(line, HasSubstr(std::string(flag) + ": "));
    }
  }
  EXPECT_LT(refusal({"--" + std::string(5000, 'x')}).size(), 200U);
}

std::string refusal_of(const Collective& collective, const std::vector<std::string>& arguments) {
  try {
    parse_options(collective, arguments, nothing_set);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "(accepted)";
}

TEST(Options, ThatMeanNothingForAProgramAreRefused) {
  for (const char* flag : {"-b", "-e", "-i", "-f", "--sizes", "-u", "-d", "-o", "-r", "--cache"})
    EXPECT_THAT(refusal_of(collectives::barrier, {flag, "1"}),
                HasSubstr(std::string(flag) + ": barrier_perf "));
  EXPECT_EQ(refusal_of(collectives::barrier, {"-b", "8"}),
            "-b: barrier_perf moves no data and has one row; see --help");
  EXPECT_EQ(refusal_of(collectives::pingpong, {"-o", "sum"}),
            "-o: pingpong_perf reduces nothing; see --help");
  EXPECT_EQ(refusal_of(collectives::pingpong, {"-r", "0"}),
            "-r: pingpong_perf has no root; see --help");
  EXPECT_EQ(refusal_of(collectives::pingpong, {"--group", "mod 2"}),
            "--group: pingpong_perf runs on pairs of ranks: use --pairs; see --help");
  EXPECT_THAT(refusal_of(collectives::all_gatherv, {"-o", "sum"}), HasSubstr("reduces nothing"));
  EXPECT_THAT(refusal_of(collectives::sync_seed, {"-b", "8"}), HasSubstr("one fixed size"));
  EXPECT_THAT(refusal_of(init_spec, {"-n", "3"}), HasSubstr("-n: init_perf times how a job"));
}

// A row's routing is counted token by token before it runs: no -T would end that.
TEST(Options, MoreTokensThanCanBeCountedAreRefused) {
  const auto dispatch = [](const std::vector<std::string>& arguments) {
    return refusal_of(collectives::moe_dispatch, arguments);
  };
  EXPECT_EQ(dispatch({"--tokens", "7,1T", "--hidden", "1"}),
            "--tokens: 1099511627776 tokens of a rank, of 4 B each (--hidden); accepted: up to "
            "4194304 tokens");
  EXPECT_THAT(dispatch({"-b", "1G", "-e", "1G", "--hidden", "1"}), HasSubstr("-e: 268435456 to"));
  EXPECT_THAT(dispatch({"--sizes", "8,16T"}), HasSubstr("--sizes: 4294967296 tokens"));
  EXPECT_EQ(dispatch({"--tokens", "4M"}), "(accepted)");
  EXPECT_EQ(dispatch({"-b", "8", "-e", "16G"}), "(accepted)");
}

TEST(Options, OfNcclTestsAreAcceptedByItsPrograms) {
  const std::vector<std::string> all = {"-b", "8", "-e", "64",   "-f", "2", "-o", "sum", "-r", "0",
                                        "-u", "1", "-d", "half", "-K", "2", "-i", "8",   "-z", "0"};
  for (const Collective* collective :
       {&collectives::all_gather, &collectives::all_reduce, &collectives::alltoall,
        &collectives::alltoallv, &collectives::broadcast, &collectives::gather,
        &collectives::hypercube, &collectives::reduce, &collectives::reduce_scatter,
        &collectives::scatter, &collectives::sendrecv})
    EXPECT_EQ(refusal_of(*collective, all), "(accepted)") << collective->name;
}

TEST(Options, ACeilingIsNotMeasuredWhereAPingpongCannotRun) {
  EXPECT_EQ(refusal({"--ceiling", "auto"}), "(accepted)");
  EXPECT_EQ(refusal({"--ceiling", "12.5", "--group", "mod 2"}), "(accepted)");
  EXPECT_THAT(refusal({"--ceiling", "auto", "--group", "mod 2"}), HasSubstr("without groups"));
  EXPECT_THAT(refusal({"--ceiling", "auto", "-C", "1"}), HasSubstr("not issuing"));
  EXPECT_THAT(refusal({"--ceiling", "auto", "-G", "1"}), HasSubstr("cannot be captured"));
  EXPECT_THAT(refusal_of(collectives::pingpong, {"--ceiling", "auto"}),
              HasSubstr("auto measures a pingpong"));
  EXPECT_EQ(refusal_of(collectives::pingpong, {"--ceiling", "3"}), "(accepted)");
}

TEST(Options, RawNeedsStampsAndAFileThatHoldsThem) {
  EXPECT_EQ(refusal({"--raw", "-J", "run.JSONL"}), "(accepted)");
  EXPECT_THAT(refusal({"--raw"}), HasSubstr("JSON Lines alone"));
  EXPECT_THAT(refusal({"--raw", "-J", "run.csv"}), HasSubstr("JSON Lines alone"));
  EXPECT_THAT(refusal({"--raw", "-J", "run.jsonl", "-n", "20"}), HasSubstr("has no stamps"));
}

TEST(Options, ThatChangeNothingWithoutAnotherAreRefused) {
  EXPECT_THAT(refusal({"--group-rows", "1"}), HasSubstr("--group-rows: there are no groups"));
  EXPECT_EQ(refusal({"--group-rows", "1"}, {{"NCCL_TESTS_SPLIT", "mod 2"}}), "(accepted)");
  EXPECT_THAT(refusal_of(collectives::pingpong, {"--concurrent", "1"}),
              HasSubstr("--concurrent: there is one pair"));
  EXPECT_EQ(refusal_of(collectives::pingpong, {"--concurrent", "1", "--pairs", "all"}),
            "(accepted)");
  EXPECT_THAT(refusal_of(collectives::collect_results, {"--shared-dir", "/tmp"}),
              HasSubstr("--shared-dir: no file is exchanged"));
}

TEST(Options, OfABatchAreRefusedWithSamples) {
  const std::pair<const char*, const char*> batch[] = {{"-n", "5"}, {"-m", "2"}, {"-w", "1"},
                                                       {"-z", "1"}, {"-C", "1"}, {"-I", "1"},
                                                       {"-K", "1"}, {"-G", "1"}};
  for (const auto& [flag, value] : batch)
    EXPECT_THAT(refusal({"--samples", flag, value}), HasSubstr("--samples: -n, -m, -w,")) << flag;
  EXPECT_THAT(refusal({"--samples", "-a", "1"}), HasSubstr("-a: 1: a sample lasts until"));
  EXPECT_EQ(refusal({"--samples", "-a", "3", "--stats", "--precision", "5"}), "(accepted)");
}

TEST(Options, PassesAreRefusedBesideCycles) {
  EXPECT_THAT(refusal({"--passes", "3", "-N", "2"}), HasSubstr("--passes: -N repeats the sweep"));
  EXPECT_THAT(refusal({"--passes", "3", "-N", "0"}), HasSubstr("--passes: -N repeats the sweep"));
  EXPECT_THAT(refusal({"--passes", "3", "-I", "1"}), HasSubstr("--passes: the statistics of -I"));
  EXPECT_EQ(refusal({"--passes", "3", "-N", "1"}), "(accepted)");
  EXPECT_EQ(refusal({"--passes", "1", "-N", "2", "-I", "1"}), "(accepted)");
}

TEST(Options, LimitsAreOfSizesThatARowHas) {
  EXPECT_EQ(refusal({"-b", "1M", "-e", "8M", "--max-time", "3M:1"}),
            "--max-time: no row has 3145728 B; accepted: 1M, 2M, 4M, 8M");
  EXPECT_EQ(refusal({"-b", "8", "-e", "1G", "--min-busbw", "3:1"}),
            "--min-busbw: no row has 3 B; accepted: 8, 16, 32, 64, 128, 256, 512, 1K, ...");
  EXPECT_EQ(refusal_of(collectives::barrier, {"--max-time", "0:100"}), "(accepted)");
  EXPECT_THAT(refusal_of(collectives::barrier, {"--max-time", "8:100"}),
              HasSubstr("no row has 8 B; accepted: 0"));
}

TEST(Options, ASharedFolderMustBeOneThatCanBeWritten) {
  const TemporaryFolder folder;
  const auto with = [](const std::string& path) {
    return refusal_of(collectives::collect_results, {"--via", "cpu", "--shared-dir", path});
  };
  EXPECT_EQ(with(folder.path()), "(accepted)");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  EXPECT_THAT(with(folder.path() + "/no"), HasSubstr("is not a folder"));
  EXPECT_THAT(with("/proc"), HasSubstr("--shared-dir: '/proc' cannot be written"));
}

TEST(Options, AFlagWithoutItsValueIsNamed) {
  const std::pair<const char*, const char*> flags[] = {
      {"-n", "N"},    {"--iters", "N"},      {"-b", "SIZE"}, {"--sizes", "LIST"},
      {"-d", "LIST"}, {"--backend", "NAME"}, {"-J", "FILE"}, {"--minb", "SIZE"}};
  for (const auto& [flag, value] : flags)
    EXPECT_EQ(refusal({flag}), fmt::format("{0}: no value; accepted: {0} {1}", flag, value));
  EXPECT_THAT(refusal({"-n", "-w", "3"}), HasSubstr("-n: '-w'"));
  EXPECT_THAT(refusal({"--sizes="}), HasSubstr("--sizes: ''"));
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
  EXPECT_THAT(refusal({"-n", "2147483647", "-m", "2"}), HasSubstr("too many operations"));
  EXPECT_THAT(refusal({"--cache", "cold", "-G", "3"}), HasSubstr("--cache: the launches of a"));
  EXPECT_EQ(refusal({"--cache", "rotate", "-G", "3"}), "(accepted)");
  EXPECT_EQ(refusal({"-w", "1000000000", "-c", "1000000000"}), "(accepted)");
  EXPECT_THAT(refusal({"-c", "all", "-G", "2"}), HasSubstr("-c: the launches of a graph"));
  EXPECT_THAT(refusal({"-c", "all", "-m", "4"}),
              HasSubstr("-c: operations that are issued as one"));
  EXPECT_THAT(refusal({"-c", "all", "-I", "1"}), HasSubstr("-c: -I"));
  EXPECT_EQ(refusal({"-c", "all", "-n", "20"}), "(accepted)");
  EXPECT_THAT(refusal({"--beside", "disk"}), HasSubstr("accepted: cpu, memory, copy"));
  EXPECT_THAT(refusal({"--beside", "cpu", "-G", "2"}), HasSubstr("--beside: makes calls"));
  EXPECT_THAT(refusal({"--beside", "cpu", "-n", "0"}), HasSubstr("--beside: -n 0"));
  EXPECT_THAT(refusal({"--beside", "cpu", "-c", "all"}), HasSubstr("--beside: calls beside"));
  EXPECT_THAT(refusal({"--beside", "cpu", "--passes", "2"}), HasSubstr("--beside: repeats"));
  EXPECT_EQ(refusal({"--beside", "memory", "-n", "5", "-N", "2"}), "(accepted)");
  EXPECT_THAT(refusal({"--inject", "zeroed-result", "-c", "0"}), HasSubstr("--inject: -c 0"));
  EXPECT_THAT(refusal({"--inject", "zeroed-result", "-G", "1"}), HasSubstr("--inject: "));
  EXPECT_THAT(refusal({"--inject", "zeroed-result", "-m", "2"}), HasSubstr("--inject: waits"));
  EXPECT_THAT(refusal({"--inject", "zeroed-result:at=99999999999G"}), HasSubstr("too large"));
  EXPECT_THAT(refusal({"--inject", "zeroed-result", "--ceiling", "auto"}), HasSubstr("--inject: "));
  EXPECT_THAT(refusal({"--digests", "x"}), HasSubstr("--digests: digests are"));
  EXPECT_EQ(refusal({"--digests", "x", "--reproducible"}), "(accepted)");
  EXPECT_THAT(refusal({"--digests", "x", "--reproducible", "--inject", "zeroed-result"}),
              HasSubstr("--digests: would keep what --inject spoils"));
  EXPECT_THAT(refusal({"--digests", "x.csv", "--reproducible", "-J", "x.csv"}),
              HasSubstr("--digests: is -J's file"));
  EXPECT_THAT(refusal_of(collectives::all_gather, {"--reproducible"}),
              HasSubstr("reduces nothing"));
  EXPECT_THAT(refusal_of(collectives::sync_grad, {"--reproducible"}),
              HasSubstr("is made of several operations"));
  EXPECT_THAT(refusal({"--duration", "1m", "-N", "2"}), HasSubstr("--duration: -N"));
  EXPECT_THAT(refusal({"--duration", "1m", "--passes", "2"}), HasSubstr("--duration: --passes"));
  EXPECT_THAT(refusal({"--duration", "1m", "-c", "0"}), HasSubstr("--duration: "));
}

TEST(RefusedOptions, ALabelOfAnyLengthIsNot) {
  EXPECT_EQ(parse({"--label", std::string(256, 'x')}).options.output.label.size(), 256U);
  EXPECT_THAT(
      [] {
        parse({"--label", std::string(257, 'x')});
      },
      testing::ThrowsMessage<UsageError>(HasSubstr("accepted: up to 256 B")));
}

}  // namespace
}  // namespace ccl_tests
