// A gang of pods, from the files that describe it.
#include "src/bootstrap/launch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

using testing::HasSubstr;

class Gang : public testing::Test {
 protected:
  Gang() { std::filesystem::create_directories(folder_); }
  ~Gang() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    std::ofstream(folder_ + '/' + name) << text;
  }
  void write_two() const {
    write("expected_count", "2\n");
    write("master_addr", "10.1.2.3");
    write("gang_id", "ns-job");
    write("peers", "worker-0;10.1.2.3;0\nworker-1;10.1.2.4;1\n");
  }
  static Environment pod_named(const std::string& pod) {
    return [pod](const std::string& name) -> std::optional<std::string> {
      if (name == "POD_NAME") return pod;
      if (name == "CCL_JOB_SECRET") return "of this job";
      return std::nullopt;
    };
  }
  template <class Exception>
  std::string refusal(const std::string& pod) const {
    try {
      gang_launch(folder_, pod_named(pod), 0.3, [](std::string_view) {});
    } catch (const Exception& e) {
      return e.what();
    }
    return "(accepted)";
  }

  const std::string folder_ =
      testing::TempDir() + "gang_" + testing::UnitTest::GetInstance()->current_test_info()->name();
};

TEST_F(Gang, IsALaunch) {
  write_two();
  write("master_port", "12345");
  const Launch launch = gang_launch(folder_, pod_named("worker-1"), 1, [](std::string_view) {});
  EXPECT_EQ(launch.launcher, "gang");
  EXPECT_EQ(launch.process, 1);
  EXPECT_EQ(launch.processes, 2);
  EXPECT_EQ(launch.master_host, "10.1.2.3");
  EXPECT_EQ(launch.master_port, 12345);
  EXPECT_EQ(launch.job, "gang ns-job");
  EXPECT_EQ(launch.secret, "of this job");
}

TEST_F(Gang, ListensOnTorchsPortIfNoneIsNamed) {
  write_two();
  EXPECT_EQ(gang_launch(folder_, pod_named("worker-0"), 1, [](std::string_view) {}).master_port,
            29500);
}

TEST_F(Gang, IsWaitedFor) {
  write_two();
  write("peers", "worker-0;10.1.2.3;0");
  EXPECT_THAT(refusal<Timeout>("worker-0"), HasSubstr("after 0.3 s: 1 of 2 pods are there"));
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    write_two();
  });
  EXPECT_EQ(gang_launch(folder_, pod_named("worker-0"), 60, [](std::string_view) {}).processes, 2);
  late.join();
  write("expected_count", "");
  EXPECT_THAT(refusal<Timeout>("worker-0"), HasSubstr("expected_count is missing"));
}

TEST_F(Gang, RefusesWhatCannotBeUnderstood) {
  write_two();
  EXPECT_THAT(refusal<UsageError>(""), HasSubstr("POD_NAME is not set"));
  EXPECT_THAT(refusal<UsageError>("worker-9"), HasSubstr("does not name this pod, 'worker-9'"));
  write("peers", "worker-0;10.1.2.3;0\nworker-1;10.1.2.4;2");
  EXPECT_THAT(refusal<UsageError>("worker-0"), HasSubstr("accepted: a whole number from 0 to 1"));
  write("peers", "worker-0,10.1.2.3,0");
  EXPECT_THAT(refusal<UsageError>("worker-0"), HasSubstr("accepted: pod;ip;rank"));
  write("expected_count", "two");
  EXPECT_THAT(refusal<UsageError>("worker-0"), HasSubstr("expected_count: 'two'"));
}

TEST(GangFolder, IsBehindTheName) {
  EXPECT_EQ(gang_folder("gang:/etc/preflight"), "/etc/preflight");
  EXPECT_FALSE(gang_folder("auto"));
}

}  // namespace
}  // namespace ccl_tests
