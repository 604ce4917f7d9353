// How much memory there is, read from made-up /proc and /sys.
#include "src/devices/host_limits.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "src/core/error.hpp"
#include "src/core/host.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ccl_tests {
namespace {

constexpr std::size_t mib = 1 << 20;

class HostMemory : public testing::Test {
 protected:
  HostMemory() {
    folder_.write("proc/meminfo", "MemTotal:  4194304 kB\nMemAvailable:    1048576 kB\n");
  }
  void cgroup(const std::string& lines) { folder_.write("proc/self/cgroup", lines); }
  void bytes(const std::string& file, std::size_t value) {
    folder_.write("sys/fs/cgroup/" + file, std::to_string(value) + "\n");
  }
  std::size_t available() const { return available_memory(folder_.path()); }
  TemporaryFolder folder_;
};

TEST_F(HostMemory, IsWhatTheKernelCallsAvailable) {
  EXPECT_EQ(available(), 1024 * mib);
  cgroup("0::/\n");
  EXPECT_EQ(available(), 1024 * mib);
}

TEST_F(HostMemory, IsLimitedByItsCgroup) {
  cgroup("0::/job/step\n");
  bytes("job/step/memory.max", 300 * mib);
  bytes("job/step/memory.current", 100 * mib);
  EXPECT_EQ(available(), 200 * mib);
  bytes("job/step/memory.current", 301 * mib);
  EXPECT_EQ(available(), 0U);
}

TEST_F(HostMemory, IsLimitedByEveryCgroupAboveIt) {
  cgroup("0::/job/step\n");
  folder_.write("sys/fs/cgroup/job/step/memory.max", "max\n");
  bytes("job/step/memory.current", 100 * mib);
  bytes("job/memory.max", 500 * mib);
  bytes("job/memory.current", 450 * mib);
  EXPECT_EQ(available(), 50 * mib);
  bytes("memory.max", 600 * mib);
  bytes("memory.current", 590 * mib);
  EXPECT_EQ(available(), 10 * mib);
}

TEST_F(HostMemory, MaxMeansUnlimited) {
  cgroup("0::/job\n");
  folder_.write("sys/fs/cgroup/job/memory.max", "max\n");
  bytes("job/memory.current", 100 * mib);
  EXPECT_EQ(available(), 1024 * mib);
}

TEST_F(HostMemory, ReadsVersion1) {
  cgroup("12:pids:/job\n5:memory:/job\n1:name=systemd:/\n");
  bytes("memory/job/memory.limit_in_bytes", 200 * mib);
  bytes("memory/job/memory.usage_in_bytes", 50 * mib);
  EXPECT_EQ(available(), 150 * mib);
  bytes("memory/job/memory.limit_in_bytes", 9223372036854771712U);  // version 1's "unlimited"
  EXPECT_EQ(available(), 1024 * mib);
}

// A file that was read or written stays in memory until somebody needs the place.
TEST_F(HostMemory, HasTheRoomThatCachesTake) {
  cgroup("0::/job/step\n");
  bytes("job/step/memory.max", 800 * mib);
  bytes("job/step/memory.current", 790 * mib);
  folder_.write("sys/fs/cgroup/job/step/memory.stat",
                "anon 104857600\nfile 723517440\ninactive_anon 104857600\nactive_anon 0\n"
                "inactive_file 629145600\nactive_file 52428800\nunevictable 0\n"
                "slab_reclaimable 10485760\nslab_unreclaimable 1048576\n");
  EXPECT_EQ(available(), (10 + 600 + 50 + 10) * mib);
  // A neighbour's cache under the same parent.
  bytes("job/memory.max", 900 * mib);
  bytes("job/memory.current", 900 * mib);
  EXPECT_EQ(available(), 0U);
  folder_.write("sys/fs/cgroup/job/memory.stat", "inactive_file 419430400\n");
  EXPECT_EQ(available(), 400 * mib);
  // More than is used: counters are not read at one moment.
  folder_.write("sys/fs/cgroup/job/memory.stat", "active_file 4194304000\n");
  EXPECT_EQ(available(), (10 + 600 + 50 + 10) * mib);
}

TEST_F(HostMemory, HasTheRoomThatCachesTakeInVersion1) {
  cgroup("5:memory:/job/step\n");
  bytes("memory/job/step/memory.limit_in_bytes", 800 * mib);
  bytes("memory/job/step/memory.usage_in_bytes", 790 * mib);
  folder_.write("sys/fs/cgroup/memory/job/step/memory.stat",
                "cache 1\ninactive_file 1\nactive_file 1\ntotal_cache 723517440\n"
                "total_inactive_file 629145600\ntotal_active_file 52428800\n");
  EXPECT_EQ(available(), (10 + 600 + 50) * mib);
  bytes("memory/job/memory.limit_in_bytes", 800 * mib);
  bytes("memory/job/memory.usage_in_bytes", 800 * mib);
  folder_.write("sys/fs/cgroup/memory/job/memory.stat", "total_inactive_file 314572800\n");
  EXPECT_EQ(available(), 300 * mib);
}

TEST_F(HostMemory, EndsWhereTheKernelThrottles) {
  cgroup("0::/job\n");
  folder_.write("sys/fs/cgroup/job/memory.max", "max\n");
  bytes("job/memory.high", 300 * mib);
  bytes("job/memory.current", 100 * mib);
  EXPECT_EQ(available(), 200 * mib);
}

// In a container the path of the host is not there; the container's own files are at the top.
TEST_F(HostMemory, ReadsTheTopWhereThePathIsTheHosts) {
  cgroup("0::/kubepods/pod1/container\n");
  bytes("memory.max", 400 * mib);
  bytes("memory.current", 100 * mib);
  EXPECT_EQ(available(), 300 * mib);
}

TEST_F(HostMemory, KnowsItsMachine) {
  folder_.write("proc/sys/kernel/random/boot_id", "1234-abcd\n");
  EXPECT_EQ(machine_id(folder_.path()), "1234-abcd");
}

TEST(HostBuffer, IsZeroedAlignedAndMovable) {
  Buffer buffer = host_buffer(3 * mib);
  ASSERT_NE(buffer.data(), nullptr);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(buffer.data()) % 4096, 0U);
  EXPECT_EQ(buffer.data()[3 * mib - 1], std::byte{0});
  buffer.data()[7] = std::byte{9};
  Buffer other = std::move(buffer);
  EXPECT_EQ(other.size(), 3 * mib);
  EXPECT_EQ(other.data()[7], std::byte{9});
  other = host_buffer(0);
  EXPECT_EQ(other.size(), 0U);
}

TEST(HostBuffer, ThatCannotBeHadIsAnError) {
  EXPECT_THROW(host_buffer(std::numeric_limits<std::size_t>::max() / 2), Error);
}

}  // namespace
}  // namespace ccl_tests
