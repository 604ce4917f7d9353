#include "src/backends/registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/unit/temporary_folder.hpp"

namespace ccl_tests {
namespace {

using testing::HasSubstr;

// Without the variables that this machine or its scheduler may have set.
class GpuEvidence : public testing::Test {
 protected:
  GpuEvidence() { clear(); }
  ~GpuEvidence() override { clear(); }
  static void clear() {
    for (const char* name :
         {"CUDA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "SLURM_JOB_GPUS", "SLURM_STEP_GPUS"})
      unsetenv(name);
  }
  void device(const std::string& address, const std::string& vendor, const std::string& type) {
    folder_.write("sys/bus/pci/devices/" + address + "/vendor", vendor + "\n");
    folder_.write("sys/bus/pci/devices/" + address + "/class", type + "\n");
  }
  std::string evidence() const { return gpu_evidence(folder_.path()).value_or("none"); }
  TemporaryFolder folder_;
};

TEST_F(GpuEvidence, IsAnNvidiaDisplayDevice) {
  EXPECT_EQ(evidence(), "none");
  device("0000:00:01.0", "0x8086", "0x030000");  // another vendor's
  device("0000:00:02.0", "0x10de", "0x040300");  // a GPU's audio device
  EXPECT_EQ(evidence(), "none");
  device("0000:0f:00.0", "0x10de", "0x030200");
  EXPECT_EQ(evidence(), "PCI device 0000:0f:00.0 is an NVIDIA GPU");
}

TEST_F(GpuEvidence, IsALaunchersPromise) {
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "SLURM_JOB_GPUS", "SLURM_STEP_GPUS"}) {
    setenv(name, "0,1", 1);
    EXPECT_THAT(evidence(), HasSubstr(name));
    unsetenv(name);
  }
}

TEST_F(GpuEvidence, IsHiddenOnPurpose) {
  device("0000:0f:00.0", "0x10de", "0x030200");
  for (const char* value : {"", "-1", "-1,0", "NoDevFiles", "none"}) {
    setenv("CUDA_VISIBLE_DEVICES", value, 1);
    EXPECT_EQ(evidence(), "none") << value;
  }
  unsetenv("CUDA_VISIBLE_DEVICES");
  for (const char* value : {"void", "none", ""}) {
    setenv("NVIDIA_VISIBLE_DEVICES", value, 1);
    EXPECT_EQ(evidence(), "none") << value;
  }
  setenv("NVIDIA_VISIBLE_DEVICES", "all", 1);  // as NVIDIA's images have it on any machine
  EXPECT_THAT(evidence(), HasSubstr("PCI device"));
}

TEST_F(GpuEvidence, IsTheDriversFileWhereThereIsNoPci) {
  setenv("NVIDIA_VISIBLE_DEVICES", "all", 1);
  EXPECT_EQ(evidence(), "none");
  folder_.write("dev/dxg", "");
  EXPECT_EQ(evidence(), "/dev/dxg is there");
  folder_.write("dev/nvidiactl", "");
  EXPECT_EQ(evidence(), "/dev/nvidiactl is there");
}

TEST_F(GpuEvidence, IsNoneWithoutADeviceTree) { EXPECT_EQ(gpu_evidence("/nowhere"), std::nullopt); }

}  // namespace
}  // namespace ccl_tests
