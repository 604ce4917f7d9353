// What the command line takes, and what it means.
#include "src/options/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "tests/unit/command_line.hpp"

namespace ccl_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::vector<std::string> words(const std::string& line) {
  std::istringstream in(line);
  return {std::istream_iterator<std::string>(in), {}};
}

TEST(Options, DefaultsAreNcclTests) {
  const Options o = read({});
  EXPECT_FALSE(o.job.threads || o.job.ranks_per_thread);
  EXPECT_EQ(o.sweep.min_bytes, 32U << 20);
  EXPECT_EQ(o.sweep.max_bytes, 32U << 20);
  EXPECT_EQ(o.measure.iterations, 20);
  EXPECT_EQ(o.measure.warmup, 1);
  EXPECT_EQ(o.measure.aggregate, 1);
  EXPECT_EQ(o.sweep.cycles, 1);
  EXPECT_EQ(o.check.calls, 1);
  EXPECT_EQ(o.measure.average, 1);
  EXPECT_EQ(o.measure.blocking, 0);
  EXPECT_EQ(o.sweep.types, std::vector{DataType::float32});
  EXPECT_EQ(o.sweep.ops, std::vector{ReduceOp::sum});
  EXPECT_EQ(o.sweep.roots, std::vector{0});
  EXPECT_FALSE(o.sweep.all_roots);
  EXPECT_EQ(o.job.backend, "auto");
  EXPECT_TRUE(gpu_flags(o).empty());
}

TEST(Options, DurationsHaveUnits) {
  const auto duration = [](const char* text) {
    return read({"--duration", text}).sweep.duration_s;
  };
  EXPECT_EQ(duration("90"), 90);
  EXPECT_EQ(duration("90s"), 90);
  EXPECT_EQ(duration("15m"), 900);
  EXPECT_EQ(duration("1.5h"), 5400);
  EXPECT_EQ(read({"--duration", "1h"}).sweep.cycles, 0);
  EXPECT_THROW(duration("0"), UsageError);
  EXPECT_THROW(duration("-1s"), UsageError);
  EXPECT_EQ(read({"--time-budget", "2m"}).measure.time_budget_s, 120);
}

TEST(Options, AllCallsOrANumberAreVerified) {
  EXPECT_TRUE(read({"-c", "all"}).check.all);
  EXPECT_EQ(read({"-c", "all"}).check.calls, 1);
  EXPECT_FALSE(read({"-c", "3"}).check.all);
}

TEST(Options, EveryFlagReachesItsOption) {
  const Options o =
      read(words("-t 3 -g 2 -p 1 -n 5 -m 2 -w 0 -N 4 -c 6 -a 3 -z 2 -C 1 -S 1 -T 1.5 "
                 "--row-time 0 --seed 9 -u 7 --backend gloo --interface lo --transport "
                 "ibverbs --gloo-algorithm ring --init-timeout 30 -J x.json --heartbeat "
                 "beat"));
  EXPECT_EQ(o.job.ranks_per_process(), 6);
  EXPECT_TRUE(o.job.parallel_init && o.measure.cpu_time && o.output.timestamps);
  EXPECT_EQ(o.measure.iterations, 5);
  EXPECT_EQ(o.measure.aggregate, 2);
  EXPECT_EQ(o.measure.warmup, 0);
  EXPECT_EQ(o.sweep.cycles, 4);
  EXPECT_EQ(o.check.calls, 6);
  EXPECT_EQ(o.measure.average, 3);
  EXPECT_EQ(o.measure.blocking, 2);
  EXPECT_EQ(o.job.timeout_s, 1.5);
  EXPECT_EQ(o.measure.row_time_s, 0);
  EXPECT_EQ(o.backend.init_timeout_s, 30);
  EXPECT_EQ(o.check.seed, 9U);
  EXPECT_EQ(o.sweep.unalign, 7U);
  EXPECT_EQ(o.job.backend, "gloo");
  EXPECT_EQ(o.backend.interface, "lo");
  EXPECT_EQ(o.backend.transport, "ibverbs");
  EXPECT_EQ(o.backend.gloo_algorithm, "ring");
  EXPECT_THAT(o.output.files, ElementsAre("x.json"));
  EXPECT_EQ(o.job.heartbeat_file, "beat");
}

TEST(Options, LongNamesAreNcclTests) {
  const Options o =
      read({"--nthreads", "2", "--minbytes=8", "--maxbytes", "64", "--stepfactor=4", "--iters", "3",
            "--datatype", "half", "--op", "max", "--root", "1", "--check", "0"});
  EXPECT_EQ(o.job.threads, 2);
  EXPECT_EQ(sweep_sizes(o.sweep), (std::vector<std::size_t>{8, 32}));
  EXPECT_EQ(o.measure.iterations, 3);
  EXPECT_EQ(o.sweep.types, std::vector{DataType::half});
  EXPECT_EQ(o.sweep.ops, std::vector{ReduceOp::max});
  EXPECT_EQ(o.sweep.roots, std::vector{1});
  EXPECT_EQ(o.check.calls, 0);
}

TEST(Options, AValueMayTouchItsLetter) {
  const Options o = read({"-n3", "-r-1", "-n5"});
  EXPECT_EQ(o.measure.iterations, 5);
  EXPECT_TRUE(o.sweep.all_roots);
}

TEST(Options, ListsAndAll) {
  EXPECT_THAT(read({"-d", "half,double"}).sweep.types,
              ElementsAre(DataType::half, DataType::float64));
  EXPECT_EQ(read({"-d", "all"}).sweep.types.size(), 12U);
  EXPECT_EQ(read({"-o", "all"}).sweep.ops.size(), 6U);
  EXPECT_THAT(read({"-o", "min,avg"}).sweep.ops, ElementsAre(ReduceOp::min, ReduceOp::avg));
  EXPECT_THAT(read({"-r", "2,0,1"}).sweep.roots, ElementsAre(2, 0, 1));
  EXPECT_FALSE(read({"-r", "2"}).sweep.all_roots);
  EXPECT_TRUE(read({"-r", "-1"}).sweep.all_roots);
  EXPECT_TRUE(read({"-r", "all"}).sweep.all_roots);
  EXPECT_TRUE(read({"--root=-1"}).sweep.all_roots);
}

TEST(Options, BitwiseOperationsAreForIntegersAndNotPartOfAll) {
  const auto bitwise = ElementsAre(ReduceOp::band, ReduceOp::bor, ReduceOp::bxor);
  EXPECT_THAT(read({"-o", "band,bor,bxor", "-d", "int8,uint64"}).sweep.ops, bitwise);
  const std::string integers = "accepted: with -d int8,uint8,int32,uint32,int64,uint64";
  const auto unsupported = [](const std::vector<std::string>& arguments) -> std::string {
    try {
      parse(arguments);
    } catch (const Unsupported& e) {
      return e.what();
    }
    return "(accepted)";
  };
  EXPECT_EQ(unsupported({"-o", "bor"}), "-o: bor is not defined on float; " + integers);
  EXPECT_EQ(unsupported({"-o", "sum,bxor", "-d", "half,int8,f8e5m2"}),
            "-o: bxor is not defined on half, f8e5m2; " + integers);
  EXPECT_THAT(unsupported({"-d", "all", "-o", "band"}), HasSubstr(integers));
  // Where nothing is reduced the operation is not used.
  const auto gathered = parse_options(collectives::all_gather, {"-o", "band"},
                                      [](const char* /*name*/) { return std::nullopt; });
  EXPECT_EQ(gathered.options.sweep.ops, std::vector{ReduceOp::band});
}

TEST(Options, RepeatedLimitsAddUp) {
  const Options o = read({"--sizes", "8,1M,2M", "--min-busbw", "1M:0.5", "--min-busbw", "2M:1e1",
                          "--max-time", "8:200"});
  ASSERT_EQ(o.limits.min_busbw.size(), 2U);
  EXPECT_EQ(o.limits.min_busbw[0].bytes, 1U << 20);
  EXPECT_EQ(o.limits.min_busbw[0].value, 0.5);
  EXPECT_EQ(o.limits.min_busbw[1].bytes, 2U << 20);
  EXPECT_EQ(o.limits.min_busbw[1].value, 10);
  ASSERT_EQ(o.limits.max_time.size(), 1U);
  EXPECT_EQ(o.limits.max_time[0].bytes, 8U);
  EXPECT_EQ(o.limits.max_time[0].value, 200);
}

TEST(Options, ALimitMayBeOfOnePlacement) {
  const Options o = read({"--sizes", "8", "--min-busbw", "8:0.5:in_place", "--max-time",
                          "8:200:out_of_place", "--max-time", "8:300"});
  EXPECT_EQ(o.limits.min_busbw.at(0).times, Placements::in_place);
  EXPECT_EQ(o.limits.max_time.at(0).times, Placements::out_of_place);
  EXPECT_EQ(o.limits.max_time.at(1).times, Placements::both);
  EXPECT_TRUE(includes(Placements::both, true) && includes(Placements::both, false));
  EXPECT_TRUE(includes(Placements::in_place, true));
  EXPECT_FALSE(includes(Placements::in_place, false));
  EXPECT_FALSE(includes(Placements::out_of_place, true));
}

TEST(Options, OnePlacementMayBeMeasuredAlone) {
  EXPECT_EQ(read({}).sweep.placements, Placements::both);
  EXPECT_EQ(read({"-O", "0"}).sweep.placements, Placements::in_place);
  EXPECT_EQ(read({"--out_of_place=1"}).sweep.placements, Placements::out_of_place);
  EXPECT_EQ(number_of(Placements::both), 2U);
  EXPECT_EQ(number_of(Placements::in_place), 1U);
  const auto limited = [](const char* flag, const char* placement) {
    return read({"--sizes", "8", "-O", "0", flag, placement}).limits;
  };
  EXPECT_EQ(limited("--max-time", "8:1:in_place").max_time.size(), 1U);
  EXPECT_EQ(limited("--max-time", "8:1").max_time.size(), 1U);
  EXPECT_THROW(limited("--max-time", "8:1:out_of_place"), UsageError);
  EXPECT_THROW(limited("--min-busbw", "8:1:out_of_place"), UsageError);
}

TEST(Options, APlacementThatAProgramDoesNotHaveIsRefused) {
  Options o;
  for (const auto placements : {Placements::both, Placements::out_of_place, Placements::in_place}) {
    o.sweep.placements = placements;
    EXPECT_NO_THROW(check_groups(collectives::all_reduce, o, unplaced_groups(o, 3)));
    for (const Collective* const collective : {&collectives::sendrecv, &collectives::pingpong}) {
      if (placements == Placements::in_place)
        EXPECT_THROW(check_groups(*collective, o, unplaced_groups(o, 3)), UsageError);
      else
        EXPECT_NO_THROW(check_groups(*collective, o, unplaced_groups(o, 3)));
    }
  }
}

TEST(Options, TheToleranceIsAPercentage) {
  EXPECT_EQ(read({"--baseline", "x.jsonl"}).limits.tolerance, 0.2);
  EXPECT_EQ(read({"--baseline", "x.jsonl", "--tolerance", "30%"}).limits.tolerance, 0.3);
  EXPECT_EQ(read({"--baseline", "x.jsonl", "--tolerance", "5"}).limits.tolerance, 0.05);
}

TEST(Options, EveryFileOfSeveralIsKept) {
  EXPECT_THAT(read({"-J", "a.csv", "--output_file=a.jsonl"}).output.files,
              ElementsAre("a.csv", "a.jsonl"));
  EXPECT_THAT(read({"-J", "a.csv", "-J", "a.csv"}).output.files, ElementsAre("a.csv"));
}

// As getopt_long has it for nccl-tests: scripts put their own flags behind common ones.
TEST(Options, OfAFlagGivenTwiceTheLastCounts) {
  EXPECT_EQ(read({"-n", "3", "--iters", "3"}).measure.iterations, 3);
  EXPECT_EQ(read({"-b", "1K", "-b", "1024", "-e", "1K"}).sweep.min_bytes, 1024U);
  EXPECT_EQ(read({"-n", "3", "-n", "4"}).measure.iterations, 4);
  const Options o = read({"-r", "all", "-r", "1"});
  EXPECT_FALSE(o.sweep.all_roots);
  EXPECT_THAT(o.sweep.roots, ElementsAre(1));
  EXPECT_EQ(read({"--group", "mod 2", "--group", "mod 3"}).sweep.grouping.operand, 3U);
}

TEST(Options, LongFlagsMayBeShortenedAsInNcclTests) {
  // --minbytes is nccl-tests', --min-busbw is not.
  EXPECT_EQ(read({"--minbyte", "8"}).sweep.min_bytes, 8U);
  EXPECT_EQ(read({"--min=8"}).sweep.min_bytes, 8U);
  EXPECT_EQ(read({"--it", "7"}).measure.iterations, 7);
  EXPECT_EQ(read({"--gloo", "ring"}).backend.gloo_algorithm, "ring");
  EXPECT_EQ(refusal({"--step", "2"}), "'--step' is ambiguous; accepted: --stepfactor, --stepbytes");
  EXPECT_EQ(read({"--heartbeat", "--it"}).job.heartbeat_file, "--it");  // a value
  EXPECT_TRUE(parse({"--h"}).print);
}

TEST(Options, AFlagWithoutAValueTakesNone) {
  EXPECT_EQ(refusal({"--stats=0"}), "--stats: '0'; accepted: --stats alone");
  EXPECT_EQ(refusal({"--help=3"}), "--help: '3'; accepted: --help alone");
}

TEST(Options, TheLauncherHasAnOldName) {
  EXPECT_EQ(read({"--launcher", "env"}).job.launcher, "env");
  EXPECT_EQ(read({"--bootstrap", "env"}).job.launcher, "env");
  EXPECT_THAT(refusal({"--bootstrap", "ssh"}), HasSubstr("--launcher: unknown name 'ssh'"));
}

TEST(Options, StepsAreMultipliedUnlessAStepIsGiven) {
  EXPECT_EQ(read({}).sweep.step_factor, 2);
  EXPECT_EQ(read({"-i", "1M"}).sweep.step_factor, 1);
  EXPECT_EQ(read({"-i", "1M", "-f", "4"}).sweep.step_factor, 4);
}

TEST(Options, OneLimitOfStartingReachesTheLibraryToo) {
  EXPECT_EQ(read({}).backend.init_timeout_s, BackendOptions{}.init_timeout_s);
  EXPECT_EQ(read({"--init-timeout", "30"}).backend.init_timeout_s, 30);
}

TEST(Options, WhatWasGivenIsKnown) {
  EXPECT_THAT(parse({"--iters", "20", "-J", "a.csv"}, {{"NCCL_TESTS_MIN_BW", "1"}}).options.given,
              ElementsAre("-n", "-J", "NCCL_TESTS_MIN_BW"));
}

TEST(Options, ModesAreOfTheProgramsThatHaveThem) {
  const auto mode = [](const std::string& name) -> std::string {
    const GetVariable none = [](const char*) { return std::nullopt; };
    return parse_options(collectives::sendrecv, {"--mode", name}, none).options.sweep.mode;
  };
  EXPECT_EQ(mode("async"), "async");
  EXPECT_EQ(in_mode(collectives::sendrecv, mode("exchange")).mode, "exchange");
  EXPECT_EQ(&in_mode(collectives::sendrecv, mode("ring")), &collectives::sendrecv);
  EXPECT_EQ(&in_mode(collectives::sendrecv, ""), &collectives::sendrecv);
  for (const char* unknown : {"rings", "", "Ring"}) {
    try {
      mode(unknown);
      FAIL() << unknown;
    } catch (const UsageError& e) {
      EXPECT_THAT(e.what(), HasSubstr("--mode: unknown name"));
      EXPECT_THAT(e.what(), HasSubstr("accepted: ring, exchange, async"));
    }
  }
  EXPECT_THAT(refusal({"--mode", "ring"}), HasSubstr("--mode"));
}

std::string pingpong_refusal(const std::vector<std::string>& arguments) {
  try {
    parse_options(collectives::pingpong, arguments, [](const char*) { return std::nullopt; });
  } catch (const UsageError& e) {
    return e.what();
  }
  return "(accepted)";
}

TEST(Options, PairsAreOfTheProgramsThatRunOnThem) {
  const GetVariable spread = [](const char* name) -> std::optional<std::string> {
    if (std::string(name) == "NCCL_TESTS_ALLTOALLV_SPREAD") return "0.5";
    return std::nullopt;
  };
  const Options o = parse_options(collectives::pingpong,
                                  {"--pairs", "0:1,3:2", "--concurrent", "1", "--window", "64",
                                   "--bidirectional", "1"},
                                  spread)
                        .options;
  ASSERT_EQ(o.sweep.pairing.list.size(), 2U);
  EXPECT_EQ(o.sweep.pairing.list[1].first, 3);
  EXPECT_TRUE(o.sweep.concurrent && o.spec.bidirectional);
  EXPECT_EQ(o.spec.window, 64U);
  EXPECT_EQ(o.spec.alltoallv_spread, 0.5);
  for (const char* bad : {"", "0", "0:", ":1", "0:1,", "0:1:2", "0-1", "-1:0", "a:b", "0:1;2:3"}) {
    EXPECT_THAT(pingpong_refusal({"--pairs", bad}), HasSubstr("--pairs: "));
    EXPECT_THAT(pingpong_refusal({"--pairs", bad}), HasSubstr("accepted: "));
  }
  EXPECT_THAT(pingpong_refusal({"--pairs", "0:1,2:2"}),
              HasSubstr("'2:2' pairs a rank with itself"));
  EXPECT_THAT(pingpong_refusal({"--pairs", "0:1,2:3,1:0"}), HasSubstr("'1:0' is named twice"));
  for (const char* window : {"0", "-1", "x", "65537"})
    EXPECT_THAT(pingpong_refusal({"--window", window}), HasSubstr("--window: '"));
  EXPECT_THAT(refusal({"--pairs", "0:1"}), HasSubstr("--pairs"));
}

TEST(Options, GpuFlagsAreKeptForTheDeviceToRefuse) {
  EXPECT_TRUE(gpu_flags(read({"-G", "0", "-y", "0", "-R", "0", "-x", "-1", "-D", "0", "-V", "16",
                              "-M", "0", "-I", "1", "-K", "1"}))
                  .empty());
  EXPECT_THAT(gpu_flags(read({"-G", "1", "--local_register", "2"})), ElementsAre("-G", "-R"));
  EXPECT_THAT(gpu_flags(read({"-y", "1", "-x", "0", "--memory", "1", "--show-algorithm"})),
              ElementsAre("-M", "-y", "-x", "--show-algorithm"));
}

TEST(Options, OfTheBackendAreKeysAndValues) {
  const Options o = read({"--backend-option", "depth=4", "--backend-option", "name=a=b",
                          "--backend-option", "depth=5", "--backend-option", "empty="});
  EXPECT_EQ(o.backend.get("depth"), "5");
  EXPECT_EQ(o.backend.get("name"), "a=b");
  EXPECT_EQ(o.backend.get("empty"), "");
  EXPECT_EQ(refusal({"--backend-option", "depth"}), "--backend-option: 'depth' is not KEY=VALUE");
  EXPECT_EQ(refusal({"--backend-option", "=4"}), "--backend-option: '=4' is not KEY=VALUE");
}

TEST(Options, MemoryIsAReportOrAPlace) {
  EXPECT_FALSE(read({}).gpu.memory);
  EXPECT_EQ(read({"--memory", "cuda"}).gpu.memory, Memory::cuda);
  EXPECT_EQ(read({"-M", "host"}).gpu.memory, Memory::host);
  const Options both = read({"-M", "1", "--memory", "cuda"});
  EXPECT_TRUE(both.gpu.memory_report);
  EXPECT_EQ(both.gpu.memory, Memory::cuda);
  EXPECT_THAT(refusal({"--memory", "gpu"}), HasSubstr("unknown name 'gpu'"));
}

TEST(Options, GraphsCannotWaitWithinThem) {
  EXPECT_THAT(refusal({"-G", "2", "-z", "1"}), HasSubstr("-z: 1 waits between operations"));
  EXPECT_THROW(parse_options(collectives::sync_grad, {"-G", "1"}, nothing_set), Unsupported);
  EXPECT_THROW(parse_options(collectives::pingpong, {"-G", "1"}, nothing_set), Unsupported);
}

TEST(Options, DeviceSideCollectivesAreRefusedWithAReason) {
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{"-D", "1"}, {"-V", "32"}}) {
    try {
      read(flags);
      ADD_FAILURE();
    } catch (const Unsupported& e) {
      EXPECT_THAT(e.what(), HasSubstr("that kernels call themselves"));
    }
  }
}

TEST(Options, SkippedIterationsLeaveSome) {
  EXPECT_EQ(read({"-I", "1", "-K", "19"}).measure.per_iteration_skip, 19);
  EXPECT_THAT(refusal({"-I", "1", "-K", "20"}), HasSubstr("-K: 20 of 20 iterations"));
}

TEST(Options, VariablesAreReadAsStrictly) {
  EXPECT_EQ(parse({}, {{"NCCL_TESTS_MIN_BW", "1.5"}}).options.limits.min_average_busbw, 1.5);
  EXPECT_EQ(parse({}).options.limits.min_average_busbw, std::nullopt);
  for (const char* value : {"", "x", "-1", "1GB"}) {
    const std::string line = refusal({}, {{"NCCL_TESTS_MIN_BW", value}});
    EXPECT_EQ(line.rfind("NCCL_TESTS_MIN_BW: ", 0), 0U) << line;
    EXPECT_THAT(line, HasSubstr("accepted: "));
  }
}

TEST(Options, Version) {
  const Parsed version = parse({"--version"});
  ASSERT_TRUE(version.print);
  EXPECT_THAT(*version.print, testing::MatchesRegex("ccl-tests [0-9.]+( \\(.+\\))?\n"));
  EXPECT_FALSE(parse({}).print);
}

}  // namespace
}  // namespace ccl_tests
