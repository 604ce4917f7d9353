// Which GPU a rank takes, and what is said where that cannot be.
#include "src/job/rank_table.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

using testing::HasSubstr;

std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const Error& e) {
    EXPECT_EQ(e.code(), Exit::failed);
    return e.what();
  }
  return "(accepted)";
}

TEST(ChooseDevice, IsTheRanksNumberOnItsHostWhereThereAreEnough) {
  EXPECT_EQ(choose_device({3, 4, 0, 1}, 8, {}, false), 3);
  EXPECT_EQ(choose_device({7, 8, 3, 4}, 8, {}, false), 7);
  EXPECT_EQ(choose_device({7, 8, 3, 4}, 8, {}, true), 7);
}

TEST(ChooseDevice, IsTheNumberInTheProcessWhereTheLauncherShowsEachItsOwn) {
  EXPECT_EQ(choose_device({3, 4, 0, 1}, 1, {}, false), 0);
  EXPECT_EQ(choose_device({5, 8, 1, 2}, 2, {}, false), 1);
}

TEST(ChooseDevice, FirstDeviceIsTheProcesss) {
  EXPECT_EQ(choose_device({3, 4, 1, 2}, 8, 4, false), 5);
  EXPECT_THAT(refusal([] {
                choose_device({1, 2, 1, 2}, 2, 1, false);
              }),
              HasSubstr("NCCL_TESTS_DEVICE=1 puts a rank on device 2, but this process sees 2"));
}

TEST(ChooseDevice, MoreRanksThanDevicesShareOnlyWhenAsked) {
  EXPECT_THAT(refusal([] {
                choose_device({2, 3, 2, 3}, 2, {}, false);
              }),
              HasSubstr("3 ranks in this process, but it sees 2 GPUs"));
  EXPECT_EQ(choose_device({2, 3, 2, 3}, 2, {}, true), 0);
  EXPECT_EQ(choose_device({3, 4, 0, 1}, 2, {}, true), 1);
}

DeviceIdentity on(const std::string& id, int visible = 8) {
  return {{.index = 0, .name = "GPU", .bus_id = "0000:" + id + ":00", .unique_id = id}, visible};
}

TEST(CheckDevices, NamesTheRanksOnOneDevice) {
  const std::vector<DeviceIdentity> ranks = {on("0a"), on("0b"), on("0a", 1), on("0c")};
  const std::vector<std::string> places(4, "node7 2b4f");
  const std::string why = refusal([&] { check_devices(ranks, places, {}); });
  EXPECT_THAT(why, HasSubstr("ranks 0, 2 are on one GPU, GPU [0000:0a:00] of node7 (rank 0's"));
  EXPECT_THAT(why, HasSubstr("--share-gpus"));
  DeviceRequest request;
  request.share = true;
  EXPECT_NO_THROW(check_devices(ranks, places, request));
}

TEST(CheckDevices, HoldsEveryHostToWhatWasPromised) {
  const std::vector<DeviceIdentity> ranks = {on("0a", 2), on("0b", 2), on("1a", 1), on("1b", 1)};
  const std::vector<std::string> places = {"a x", "a x", "b y", "b y"};
  DeviceRequest request{{}, false, 2, "--expect-gpus 2"};
  EXPECT_NO_THROW(check_devices(ranks, places, request));  // b's processes see one each
  request.promised = 3;
  EXPECT_THAT(refusal([&] { check_devices(ranks, places, request); }),
              HasSubstr("--expect-gpus 2 says that every host has so many GPUs; a shows 2"));
}

}  // namespace
}  // namespace ccl_tests
