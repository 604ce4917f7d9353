// Plans of an acceptance run.
#include "tools/acceptance/plan/plan.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/error.hpp"
#include "tests/unit/file_flags.hpp"
#include "tests/unit/temporary_folder.hpp"
#include "tools/acceptance/arguments.hpp"
#include "tools/acceptance/progress.hpp"

namespace ccl_tests::acceptance {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string refusal(const std::string& text) {
  try {
    parse_plan(text, "p.toml");
  } catch (const UsageError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(AcceptancePlan, ARateFromTheCommandLine) {
  const Plan plan = plan_of(parse({"quick", "--min-bandwidth", "48.5MB/s", "--strict"}));
  EXPECT_EQ(plan.pairs.min_bandwidth, 48.5e6);
  EXPECT_TRUE(plan.strict);
  EXPECT_NE(plan.digest, plan_of("quick").digest)
      << "--resume would take over what another limit said";
  EXPECT_EQ(plan_of(parse({"quick"})).digest, plan_of("quick").digest);
  EXPECT_EQ(parse_bandwidth("800kB/s"), 800e3);
  const TemporaryFolder folder;
  const std::string left_out = folder.write("p.toml", "pairs = { run = false }\n");
  EXPECT_THROW(plan_of(parse({left_out, "--min-bandwidth", "1MB/s"})), UsageError);
}

TEST(AcceptanceArguments, FormatsOfTheListOfHosts) {
  EXPECT_EQ(parse({}).hosts_format, HostsFormat::lines);
  EXPECT_EQ(parse({"--hosts-format", "slurm"}).hosts_format, HostsFormat::slurm);
  EXPECT_THROW(parse({"--hosts-format", "xml"}), UsageError);
}

TEST(AcceptancePlan, AllKeysAreRead) {
  const Plan plan = parse_plan(R"(
name = "rack 7"
interface = "ib0"
racks = [["a", "b"], ["c"]]
same = ["kernel"]
sanity = { run = false }
[node]
programs = ["all_gather"]
sizes = ["1M", 8]
seconds = "2m"
[pairs]
size = "4M"
seconds = 0.5
slowdown = "20 %"
min_bandwidth = "10 Gbit/s"
efficiency = 0.8
links = true
[full]
programs = ["all_reduce", "alltoall"]
sizes = ["1G"]
[scaling]
program = "alltoall"
size = "2M"
min_efficiency = "40%"
find = true
[soak]
seconds = "1h"
[[limit]]
program = "all_reduce"
size = "1G"
min_busbw = "360 GB/s"
[[limit]]
stage = "node"
program = "all_gather"
warn_busbw = "1.5 TB/s"
max_time = "2s"
)",
                               "p.toml");
  EXPECT_EQ(plan.name, "rack 7");
  EXPECT_EQ(plan.interface, "ib0");
  EXPECT_THAT(plan.racks, ElementsAre(ElementsAre("a", "b"), ElementsAre("c")));
  EXPECT_THAT(plan.same, ElementsAre("kernel"));
  EXPECT_FALSE(plan.sanity);
  EXPECT_THAT(plan.node.programs, ElementsAre("all_gather"));
  EXPECT_THAT(plan.node.sizes, ElementsAre(1 << 20, 8));
  EXPECT_EQ(plan.node.seconds, 120);
  EXPECT_EQ(plan.pairs.bytes, 4U << 20);
  EXPECT_EQ(plan.pairs.seconds, 0.5);
  EXPECT_DOUBLE_EQ(plan.pairs.slowdown, 0.2);
  EXPECT_DOUBLE_EQ(plan.pairs.min_bandwidth, 1.25e9);
  EXPECT_EQ(plan.pairs.efficiency, 0.8);
  EXPECT_TRUE(plan.pairs.links);
  EXPECT_TRUE(plan.full.run);
  EXPECT_THAT(plan.full.sizes, ElementsAre(1 << 30));
  EXPECT_EQ(plan.scaling.program, "alltoall");
  EXPECT_DOUBLE_EQ(plan.scaling.min_efficiency, 0.4);
  EXPECT_TRUE(plan.scaling.find);
  EXPECT_EQ(plan.soak_s, 3600);
  ASSERT_EQ(plan.limits.size(), 2U);
  EXPECT_EQ(plan.limits[0].stage, "full");
  EXPECT_DOUBLE_EQ(plan.limits[0].min_busbw, 360e9);
  EXPECT_EQ(plan.limits[1].stage, "node");
  EXPECT_EQ(plan.limits[1].bytes, 0U);
  EXPECT_DOUBLE_EQ(plan.limits[1].warn_busbw, 1.5e12);
  EXPECT_EQ(plan.limits[1].max_time_s, 2);
}

TEST(AcceptancePlan, WhatIsWrongIsNamedWithItsLine) {
  EXPECT_THAT(refusal("\nnmae = \"x\""), HasSubstr("p.toml:2: no key nmae; accepted: name, "));
  EXPECT_THAT(refusal("[full]\nsiez = 1"),
              testing::EndsWith("no key full.siez; accepted: run, programs, sizes, seconds"));
  EXPECT_THAT(refusal("[pairs]\nsiez = 1"), HasSubstr("p.toml:2: no key pairs.siez"));
  EXPECT_THAT(refusal("[pairs]\nsize = \"4 parrots\""), HasSubstr("p.toml:2: pairs.size: "));
  EXPECT_THAT(refusal("[pairs]\nslowdown = 0"), HasSubstr("pairs.slowdown"));
  EXPECT_THAT(refusal("[pairs]\nslowdown = \"120 %\""), HasSubstr("pairs.slowdown"));
  EXPECT_THAT(refusal("[pairs]\nlinks = \"yes\""), HasSubstr("accepted: true and false"));
  EXPECT_THAT(refusal("[full]\nprograms = [\"all_redcue\"]"), HasSubstr("all_redcue"));
  EXPECT_THAT(refusal("[full]\nprograms = \"all_reduce\""), HasSubstr("accepted: a list"));
  EXPECT_THAT(refusal("[full]\nsizes = []"), HasSubstr("must not be empty"));
  EXPECT_THAT(refusal("full = 3"), HasSubstr("accepted: a table"));
  EXPECT_THAT(refusal("racks = [\"a\"]"), HasSubstr("lists of hosts"));
  EXPECT_THAT(refusal("[soak]\nrun = true"), HasSubstr("soak: for how long?"));
  EXPECT_THAT(refusal("racks = 3"), HasSubstr("lists of hosts"));
  EXPECT_THAT(refusal("racks = [[\"a\", \"b\"],\n[\"b\", \"c\"]]"),
              HasSubstr("p.toml:2: racks: 'b' is there twice"));
  EXPECT_THAT(refusal("name = 3"), HasSubstr("p.toml:1: name: accepted: a text"));
  EXPECT_THAT(refusal("interface = \"\""), HasSubstr("interface: accepted: a text"));
  EXPECT_THAT(refusal("[scaling]\nprogram = \"barrier\""), HasSubstr("barrier"));
  EXPECT_THAT(
      refusal(
          "[[limit]]\nprogram = \"all_reduce\"\nmin_busbw = \"2 GB/s\"\nwarn_busbw = \"1 GB/s\""),
      HasSubstr("warn_busbw is not above min_busbw"));
  EXPECT_THAT(refusal("[[limit]]\nprogram = \"all_reduce\""), HasSubstr("a limit needs"));
  EXPECT_THAT(refusal("[[limit]]\nmin_busbw = \"1 GB/s\""), HasSubstr("a limit needs"));
  EXPECT_THAT(refusal("[[limit]]\nmin_busbw = \"1 parrot/s\""), HasSubstr("360 GB/s"));
  EXPECT_THAT(refusal("name = "), HasSubstr("p.toml:1: not TOML: "));
}

TEST(AcceptancePlan, WholeNumbersAreNotRounded) {
  EXPECT_EQ(parse_plan("pairs = { size = 9007199254740993 }", "p").pairs.bytes, 9007199254740993U);
}

TEST(AcceptancePlan, StagesAreLeftOut) {
  const Plan plan = parse_plan("soak = { seconds = 60, run = false }\nfull = { run = false }", "p");
  EXPECT_EQ(plan.soak_s, 0);
  EXPECT_FALSE(plan.full.run);
}

TEST(AcceptancePlan, LimitsOfWhatIsNotRunAreRefused) {
  const auto with = [](const std::string& stage, const std::string& limit) {
    return refusal(stage + "\n[[limit]]\nmin_busbw = \"1 GB/s\"\n" + limit);
  };
  const std::string all_reduce = "program = \"all_reduce\"\n";
  EXPECT_EQ(with("", all_reduce), "accepted");
  EXPECT_EQ(with("", all_reduce + "size = \"1M\""), "accepted");
  EXPECT_EQ(with("", "program = \"gather\""),
            "p.toml: the limit of gather in full: the stage does not run it; accepted: all_reduce, "
            "all_gather, reduce_scatter, alltoall");
  EXPECT_EQ(
      with("", all_reduce + "size = \"2M\""),
      "p.toml: the limit of all_reduce 2M in full: the stage does not have the size; accepted: "
      "8, 1M, 64M");
  EXPECT_EQ(with("node = { run = false }", all_reduce + "stage = \"node\""),
            "p.toml: the limit of all_reduce in node: the stage is left out; accepted: run = true");
}

TEST(AcceptancePlan, BuiltinPlansAndFiles) {
  for (const std::string& name : builtin_plans()) EXPECT_EQ(plan_of(name).name, name);
  EXPECT_THAT(builtin_plans(), testing::Contains("generic"));
  EXPECT_TRUE(plan_of("generic").limits.empty());
  const TemporaryFolder folder;
  EXPECT_EQ(plan_of(folder.write("mine.toml", "name = \"mine\"\n")).name, "mine");
  EXPECT_THROW(plan_of("no-such-plan"), UsageError);
  EXPECT_THROW(plan_of(folder.path()), UsageError);
}

TEST(AcceptancePlan, ItsTextSaysWhatWillBeLookedAt) {
  const std::string text = plan_text(parse_plan(R"(
name = "rack 7"
interface = "ib0"
full = { sizes = ["1G"] }
node = { run = false }
scaling = { run = false }
[[limit]]
program = "all_reduce"
size = "1G"
min_busbw = "360 GB/s"
)",
                                                "p.toml"));
  EXPECT_THAT(text, HasSubstr("# plan rack 7\n"));
  EXPECT_THAT(text, HasSubstr("node      left out\n"));
  EXPECT_THAT(text, HasSubstr("scaling   left out\n"));
  EXPECT_THAT(text, HasSubstr("limit     full: all_reduce 1G: at least 360 GB/s\n"));
  EXPECT_THAT(text, HasSubstr("wire      all data over ib0\n"));
}

TEST(AcceptancePlan, Bandwidths) {
  EXPECT_DOUBLE_EQ(parse_bandwidth("360 GB/s"), 360e9);
  EXPECT_DOUBLE_EQ(parse_bandwidth("100Gbit/s"), 12.5e9);
  EXPECT_DOUBLE_EQ(parse_bandwidth("0.5 MB/s"), 5e5);
  for (const char* wrong : {"", "360", "GB/s", "-1 GB/s", "1 GiB/s", "1..2 GB/s"})
    EXPECT_THROW(parse_bandwidth(wrong), UsageError) << wrong;
}

TEST(AcceptanceArguments, SayWhatBecomesOfFiles) {
  ccl_tests::test::expect_uses_of_files<Arguments>();
}

}  // namespace
}  // namespace ccl_tests::acceptance
