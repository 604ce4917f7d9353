// What the ranks of a program must have been told alike, and what its files say of that.
#include "src/options/settings.hpp"

#include <gmock/gmock.h>

#include "collectives/collectives.hpp"
#include "src/options/spec_notes.hpp"

namespace ccl_tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<std::string> names(const Collective& collective) {
  std::vector<std::string> result;
  for (const SpecSetting& setting : spec_settings(collective, {}))
    result.push_back(setting.term.name);
  return result;
}

std::string value(const Collective& collective, const Options& options, std::string_view name) {
  for (const NamedValue& term : shared_settings(collective, options)) {
    if (term.name == name) return term.value;
  }
  return "(not compared)";
}

TEST(Settings, AProgramComparesThoseThatItTakes) {
  EXPECT_THAT(names(collectives::all_reduce), IsEmpty());
  EXPECT_THAT(names(collectives::all_gatherv), ElementsAre("--skew"));
  EXPECT_THAT(names(collectives::pingpong), ElementsAre("--window", "--bidirectional"));
  EXPECT_THAT(names(collectives::all_reduce_params), ElementsAre("--tensors", "--bucket-mb"));
  EXPECT_THAT(names(collectives::collect_results), ElementsAre("--objects", "--via"));
  EXPECT_THAT(names(collectives::alltoallv),
              ElementsAre("NCCL_TESTS_ALLTOALLV_SPREAD", "NCCL_TESTS_ALLTOALLV_MATRIX_FILE"));
}

TEST(Settings, ValuesAreThoseOfTheFlags) {
  Options options;
  options.spec.skew = Skew::one_large;
  options.spec.alltoallv_spread = 0.5;
  options.spec.async_operations = false;
  EXPECT_EQ(value(collectives::gatherv, options, "--skew"), "one-large");
  EXPECT_EQ(value(collectives::sync_grad, options, "--no-async"), "given");
  EXPECT_EQ(value(collectives::alltoallv, options, "NCCL_TESTS_ALLTOALLV_SPREAD"), "0.5");
  EXPECT_EQ(value(collectives::alltoall, options, "NCCL_TESTS_ALLTOALLV_SPREAD"), "(not compared)");
}

TEST(Settings, OptionsOfTheBackendAreComparedInOneOrder) {
  Options options;
  EXPECT_EQ(value(collectives::gather, options, "--backend-option"), "not given");
  options.backend_options.own = {{"width", "2"}, {"depth", "1"}};
  EXPECT_EQ(value(collectives::gather, options, "--backend-option"), "depth=1,width=2");
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
