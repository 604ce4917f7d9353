#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "src/bootstrap/launch.hpp"
#include "src/core/error.hpp"

namespace ccl {
namespace {

using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

Launch detect(const Variables& variables) {
  return detect_launch([&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

template <class Exception>
std::string refusal(const Variables& variables) {
  try {
    detect(variables);
  } catch (const Exception& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Launch, NoVariables) {
  const Launch launch = detect({});
  EXPECT_EQ(launch.launcher, "none");
  EXPECT_EQ(launch.process, 0);
  EXPECT_EQ(launch.processes, 1);
  EXPECT_FALSE(launch.agent_store);
}

TEST(Launch, PlainEnvironment) {
  const Launch launch = detect({{"RANK", "3"},
                                {"WORLD_SIZE", "8"},
                                {"LOCAL_RANK", "1"},
                                {"MASTER_ADDR", "node0"},
                                {"MASTER_PORT", "1234"}});
  EXPECT_EQ(launch.launcher, "environment");
  EXPECT_EQ(launch.process, 3);
  EXPECT_EQ(launch.processes, 8);
  EXPECT_EQ(launch.local_process, 1);
  EXPECT_EQ(launch.master_host, "node0");
  EXPECT_EQ(launch.master_port, 1234);
  EXPECT_FALSE(launch.agent_store);
  EXPECT_EQ(launch.key_prefix, "ccl-tests/none/0/");
}

TEST(Launch, DefaultPort) {
  EXPECT_EQ(detect({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}}).master_port, 29500);
}

TEST(Launch, Torchrun) {
  Variables variables = {{"RANK", "0"},
                         {"WORLD_SIZE", "2"},
                         {"MASTER_ADDR", "a"},
                         {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                         {"TORCHELASTIC_RUN_ID", "job7"},
                         {"TORCHELASTIC_RESTART_COUNT", "2"}};
  EXPECT_EQ(detect(variables).launcher, "torchrun");
  EXPECT_TRUE(detect(variables).agent_store);
  EXPECT_EQ(detect(variables).key_prefix, "ccl-tests/job7/2/");
  variables["TORCHELASTIC_USE_AGENT_STORE"] = "False";
  EXPECT_FALSE(detect(variables).agent_store);
  variables["CCL_LAUNCHER"] = "local processes";
  EXPECT_EQ(detect(variables).launcher, "local processes");
}

TEST(Launch, OneProcessNeedsNoAddress) {
  EXPECT_EQ(detect({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).processes, 1);
}

TEST(Launch, SeveralProcessesNeedAnAddress) {
  EXPECT_THAT(refusal<Error>({{"RANK", "0"}, {"WORLD_SIZE", "2"}}), HasSubstr("MASTER_ADDR"));
}

class BadNumber : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(BadNumber, IsAUsageErrorThatNamesTheVariable) {
  Variables variables = {{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}};
  variables[GetParam().first] = GetParam().second;
  EXPECT_THAT(refusal<UsageError>(variables), HasSubstr(GetParam().first));
}

INSTANTIATE_TEST_SUITE_P(
    Launch, BadNumber,
    testing::Values(std::pair{"RANK", "x"}, std::pair{"RANK", "-1"}, std::pair{"RANK", "2"},
                    std::pair{"RANK", "1 "}, std::pair{"RANK", ""}, std::pair{"WORLD_SIZE", "0"},
                    std::pair{"WORLD_SIZE", "99999999999"}, std::pair{"LOCAL_RANK", "1.0"},
                    std::pair{"MASTER_PORT", "65536"}, std::pair{"MASTER_PORT", "0"}));

TEST(Launch, HalfOfThePair) {
  EXPECT_THAT(refusal<UsageError>({{"RANK", "0"}}), HasSubstr("WORLD_SIZE"));
  EXPECT_THAT(refusal<UsageError>({{"WORLD_SIZE", "4"}}), HasSubstr("RANK"));
}

class Launcher : public testing::TestWithParam<Variables> {};

TEST_P(Launcher, OfSeveralProcessesWithoutRanksIsRefused) {
  Variables variables = GetParam();
  const std::string why = refusal<Error>(variables);
  EXPECT_THAT(why, HasSubstr(variables.rbegin()->first + "=4"));
  EXPECT_THAT(why, HasSubstr("MASTER_ADDR"));
  variables["WORLD_SIZE"] = "1";  // each of the four would run alone
  variables["RANK"] = "0";
  EXPECT_THAT(refusal<Error>(variables), HasSubstr("alone"));
}

TEST_P(Launcher, WithRanksIsAccepted) {
  Variables variables = GetParam();
  variables["RANK"] = "2";
  variables["WORLD_SIZE"] = "4";
  variables["MASTER_ADDR"] = "a";
  EXPECT_EQ(detect(variables).process, 2);
}

TEST_P(Launcher, OfOneProcessIsAlone) {
  Variables variables = GetParam();
  variables.rbegin()->second = "1";
  EXPECT_EQ(detect(variables).launcher, "none");
}

INSTANTIATE_TEST_SUITE_P(
    Launch, Launcher,
    testing::Values(Variables{{"OMPI_COMM_WORLD_SIZE", "4"}}, Variables{{"PMI_SIZE", "4"}},
                    Variables{{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "0"}}));

}  // namespace
}  // namespace ccl
