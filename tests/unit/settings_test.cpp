// What the ranks of a program must have been told alike, and what its files say of that.
#include "src/options/settings.hpp"

#include <gmock/gmock.h>

#include <thread>

#include "collectives/collectives.hpp"
#include "src/bootstrap/control.hpp"
#include "src/bootstrap/thread_ranks.hpp"
#include "src/options/flags.hpp"
#include "src/run/run_header.hpp"
#include "tests/unit/command_line.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ccl_tests {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::UnorderedElementsAre;

std::vector<std::string> names(const Collective& collective) {
  std::vector<std::string> result;
  for (const NamedValue& term : shared_settings(collective, {})) result.push_back(term.name);
  return result;
}

std::string value(const Collective& collective, const Options& options, std::string_view name) {
  for (const NamedValue& term : shared_settings(collective, options)) {
    if (term.name == name) return term.value;
  }
  return "(not compared)";
}

Setting recorded(const Options& options, std::string_view name) {
  for (Setting& setting : recorded_settings(collectives::all_reduce, options)) {
    if (setting.name == name) return std::move(setting);
  }
  ADD_FAILURE() << name << " is not recorded";
  return {};
}

TEST(Settings, AProgramComparesThoseThatItTakes) {
  EXPECT_THAT(names(collectives::all_reduce),
              IsSupersetOf({"the program", "-b", "-n", "-w", "-c", "-d", "-o", "-r", "--seed",
                            "--group", "--transport", "-G", "-M", "NCCL_TESTS_MIN_BW"}));
  EXPECT_THAT(names(collectives::all_reduce), Not(Contains("--skew")));
  EXPECT_THAT(names(collectives::all_gatherv), Contains("--skew"));
  EXPECT_THAT(names(collectives::pingpong), IsSupersetOf({"--window", "--bidirectional"}));
  EXPECT_THAT(names(collectives::all_reduce_params), IsSupersetOf({"--tensors", "--bucket-mb"}));
  EXPECT_THAT(names(collectives::collect_results), IsSupersetOf({"--objects", "--via"}));
  EXPECT_THAT(names(collectives::alltoallv),
              IsSupersetOf({"NCCL_TESTS_ALLTOALLV_SPREAD", "NCCL_TESTS_ALLTOALLV_MATRIX_FILE"}));
}

TEST(Settings, WhatConcernsOneProcessIsNotCompared) {
  for (const char* flag : {"-t", "-g", "--np", "--interface", "-J", "--heartbeat", "-T",
                           "--init-timeout", "--launcher", "--backend", "--library", "-S",
                           "--expect-gpus", "--shared-dir", "NCCL_TESTS_DEVICE"})
    EXPECT_THAT(names(collectives::all_reduce), Not(Contains(flag)));
}

TEST(Settings, AreRecordedWithNameAndType) {
  const Options o = read({"-n", "7", "-T", "1.5", "-I", "1", "-d", "half,int8", "-b", "8"});
  EXPECT_EQ(recorded(o, "iterations").value, SettingValue(std::int64_t{7}));
  EXPECT_EQ(recorded(o, "warmup").value, SettingValue(std::int64_t{1}));
  EXPECT_EQ(recorded(o, "timeout_s").value, SettingValue(1.5));
  EXPECT_EQ(recorded(o, "per_iteration").value, SettingValue(true));
  EXPECT_EQ(recorded(o, "types").value, SettingValue("half,int8"));
  EXPECT_EQ(recorded(o, "threads").value, SettingValue());
  EXPECT_EQ(recorded(o, "min_bytes").value, SettingValue(std::int64_t{8}));
}

TEST(Settings, ALabelIsRecordedAndTheSameOnAllRanks) {
  const Options o = read({"--label", "before the upgrade"});
  EXPECT_EQ(recorded(o, "label").value, SettingValue("before the upgrade"));
  EXPECT_EQ(value(collectives::all_reduce, o, "--label"), "before the upgrade");
}

// disagreement of ranks that were given these command lines.
std::vector<std::string> disagreements(const std::vector<std::vector<std::string>>& lines) {
  const auto control = alone();
  const int ranks = static_cast<int>(lines.size());
  ThreadRanks world(*control, ranks);
  std::vector<std::string> result(lines.size());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      const auto at = static_cast<std::size_t>(rank);
      result[at] = settings_disagreement(world.rank(rank), collectives::all_reduce, read(lines[at]),
                                         {"--backend", "gloo"})
                       .value_or("");
    });
  }
  for (std::thread& thread : threads) thread.join();
  return result;
}

TEST(Settings, AFileThatNobodyWouldWriteIsRefusedOnAllRanks) {
  EXPECT_THAT(disagreements({{"-J", "a.csv"}}), ElementsAre(""));
  EXPECT_THAT(disagreements({{"-J", "a.csv"}, {}, {}}), ElementsAre("", "", ""));
  EXPECT_THAT(disagreements({{"-J", "a.csv"}, {"-J", "b.csv"}, {}, {}}),
              ElementsAre("", "", "", ""));
  for (const std::string& line : disagreements({{}, {}, {"-J", "a.csv"}, {"-J", "b.csv"}}))
    EXPECT_THAT(line, HasSubstr("-J: rank 2,3 was given 'a.csv' and rank 0 was not"));
}

// Those of all flags that name a file which rank 0 writes.
TEST(Settings, AFileOfARankThatDoesNotWriteIsRefusedOnAllRanks) {
  const TemporaryFolder folder;
  const std::string old = folder.write("old", "of an earlier run"), fresh = folder.file("new");
  const std::string same = folder.path() + "/./old";
  const std::vector<std::string> more = {"--reproducible"};  // --digests asks for it
  std::size_t flags = 0;
  const ProgramFlags declared(collectives::all_reduce);
  for (const Flag& flag : declared.set.all()) {
    if (flag.file_use != FileUse::written) continue;
    ++flags;
    const std::string& name = flag.names.front();
    const auto line = [&](const std::string& file) {
      return std::vector<std::string>{"--reproducible", name, file};
    };
    EXPECT_THAT(disagreements({line(old), line(old), more}), ElementsAre("", "", "")) << name;
    EXPECT_THAT(disagreements({line(old), line(same)}), ElementsAre("", "")) << name;
    EXPECT_THAT(disagreements({line(old), line(fresh)}), ElementsAre("", "")) << name;
    for (const std::string& why : disagreements({more, line(fresh), more}))
      EXPECT_THAT(why, HasSubstr(name + ": rank 1 was given '" + fresh + "' and rank 0 was not"));
    for (const std::string& why : disagreements({line(fresh), line(old), more}))
      EXPECT_THAT(why,
                  HasSubstr(name + ": rank 1 was given '" + old + "', which is of an earlier run"));
  }
  EXPECT_EQ(flags, 4U);  // -J, --verdict, --digests, --heartbeat
}

TEST(Settings, AFlagThatOneRankWasNotGivenIsNamed) {
  for (const std::string& line : disagreements({{"-n", "3"}, {"-n", "3"}, {}}))
    EXPECT_THAT(line, HasSubstr("-n"));
}

TEST(Settings, ValuesAreThoseOfTheFlags) {
  Options options;
  options.spec.skew = Skew::one_large;
  options.spec.alltoallv_spread = 0.5;
  options.spec.async_operations = false;
  EXPECT_EQ(value(collectives::gatherv, options, "--skew"), "one-large");
  EXPECT_EQ(value(collectives::sync_grad, options, "--no-async"), "1");
  EXPECT_EQ(value(collectives::alltoallv, options, "NCCL_TESTS_ALLTOALLV_SPREAD"), "0.5");
  EXPECT_EQ(value(collectives::alltoall, options, "NCCL_TESTS_ALLTOALLV_SPREAD"), "(not compared)");
}

TEST(Settings, OptionsOfTheBackendAreComparedInOneOrder) {
  Options options;
  EXPECT_EQ(value(collectives::gather, options, "--backend-option"), "not given");
  options.backend.own = {{"width", "2"}, {"depth", "1"}};
  EXPECT_EQ(value(collectives::gather, options, "--backend-option"), "depth=1,width=2");
}

// Their cells have names of their own.
TEST(Settings, AreUnusualIfTheyChangeWhatIsMeasured) {
  const auto unusual = [](const std::vector<std::string>& words) {
    std::vector<std::string> all;
    for (const Setting& one : unusual_settings(collectives::all_reduce, read(words)))
      all.push_back(one.name + "=" + text_of(one.value));
    return all;
  };
  EXPECT_THAT(unusual({}), IsEmpty());
  EXPECT_THAT(unusual({"-b",      "8", "-e",          "1M",  "-f",        "4",    "-n", "5",
                       "-w",      "2", "-N",          "3",   "-d",        "half", "-o", "max",
                       "--label", "x", "-t",          "3",   "--backend", "gloo", "-T", "9",
                       "-c",      "2", "--min-busbw", "8:1", "--passes",  "1"}),
              IsEmpty());
  EXPECT_THAT(
      unusual({"--cache", "cold", "--gloo-algorithm", "ring", "--samples", "--beside", "cpu"}),
      UnorderedElementsAre("cache=cold", "gloo_algorithm=ring", "samples=1", "beside=cpu"));
  EXPECT_THAT(unusual({"--reproducible"}), ElementsAre("reproducible=1"));
}

TEST(Settings, LabelsAndNotesSayTheSame) {
  CollectiveOptions options;
  options.skew = Skew::linear;
  EXPECT_EQ(spec_label(collectives::all_reduce_dict, options), "skew linear, 8 objects");
  EXPECT_EQ(spec_label(collectives::all_reduce_params, options),
            "tensors uniform:16, buckets of 25 MiB");
  EXPECT_EQ(spec_label(collectives::alltoallv, options), "");
  EXPECT_THAT(spec_notes(collectives::all_gatherv, options),
              ElementsAre("lengths of the ranks' blocks: linear"));
}

}  // namespace
}  // namespace ccl_tests
