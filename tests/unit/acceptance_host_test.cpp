// What hosts say of themselves, and what they count.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/temporary_folder.hpp"
#include "tools/acceptance/host/probe.hpp"
#include "tools/acceptance/stages/stages.hpp"

namespace ccl_tests::acceptance {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Hosts two_hosts() {
  RankTable table;
  for (const char* name : {"a", "b"}) table.ranks.emplace_back().host = name;
  return Hosts(table);
}

TEST(ErrorChecks, ErrorsOfLinksAreWarnings) {
  const auto checks = error_checks(
      "full", two_hosts(),
      {{{"sent eth0", 9}, {"retransmits", 7}, {"PCIe fatal errors eth0", 0}},
       {{"sent eth0", 9}, {"symbol errors mlx5_0/1", 3}, {"PCIe corrected errors eth0", 2}}});
  ASSERT_EQ(checks.size(), 1U);
  EXPECT_EQ(checks[0].id, "full/errors/b");
  EXPECT_EQ(checks[0].subject, "host b");
  EXPECT_EQ(checks[0].verdict, Verdict::warn);
  EXPECT_EQ(checks[0].text,
            "counted during this stage: 2 PCIe corrected errors eth0, 3 symbol errors mlx5_0/1");
}

TEST(ErrorChecks, MemoryErrorsThatWereNotCorrectedFailTheHost) {
  const auto checks = error_checks("soak", two_hosts(),
                                   {{{"corrected memory errors gpu 1", 4}},
                                    {{"corrected memory errors gpu 0", 1},
                                     {"uncorrected memory errors gpu 0", 1},
                                     {"ms slowed down by heat gpu 3", 0}}});
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[0].verdict, Verdict::warn);
  EXPECT_EQ(checks[0].reason, "GPU_ERRORS");
  EXPECT_EQ(checks[0].id, "soak/gpus/a");
  EXPECT_EQ(checks[1].verdict, Verdict::fail);
  EXPECT_THAT(checks[1].text, HasSubstr("1 uncorrected memory errors gpu 0"));
}

class HostFiles : public testing::Test {
 protected:
  void write(const std::string& path, const std::string& text) const { folder_.write(path, text); }
  std::string root() const { return folder_.path(); }
  TemporaryFolder folder_;
};

TEST_F(HostFiles, FactsAreWhatTheKernelSays) {
  EXPECT_THAT(host_facts(root()), IsEmpty());
  write("proc/sys/kernel/osrelease", "6.1.0\n");
  write("etc/os-release", "NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n");
  write("proc/cpuinfo",
        "processor\t: 0\nmodel name\t: A CPU\n\nprocessor\t: 1\nmodel name\t: A CPU\n");
  write("proc/meminfo", "MemTotal:       25165824 kB\n");
  write("sys/class/net/eth0/operstate", "up\n");
  write("sys/class/net/eth0/speed", "25000\n");
  write("sys/class/net/eth0/mtu", "9000\n");
  write("sys/class/net/eth0/device/vendor", "0x15b3\n");
  write("sys/class/net/docker0/operstate", "up\n");
  write("sys/class/net/docker0/speed", "1000000\n");
  write("sys/class/net/eth1/operstate", "down\n");
  write("sys/class/net/eth1/speed", "-1\n");
  write("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
  write("sys/class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)\n");
  write("sys/class/infiniband/mlx5_0/fw_ver", "28.39\n");
  write("proc/driver/nvidia/gpus/0/information", "Model: \t NVIDIA H200\n");
  write("proc/driver/nvidia/gpus/1/information", "Model: \t NVIDIA H200\n");
  auto facts = host_facts(root());
  EXPECT_EQ(facts["kernel"], "6.1.0");
  EXPECT_EQ(facts["os"], "Debian GNU/Linux 12");
  EXPECT_EQ(facts["cpu"], "A CPU");
  EXPECT_EQ(facts["cpus"], "2");
  EXPECT_EQ(facts["memory"], "24 GiB");
  EXPECT_EQ(facts["link eth0"], "up, 25 Gbit/s, MTU 9000");
  EXPECT_EQ(facts["link eth1"], "down");
  EXPECT_EQ(facts["infiniband mlx5_0/1"], "4: ACTIVE, 400 Gb/sec (4X NDR)");
  EXPECT_EQ(facts["firmware mlx5_0"], "28.39");
  EXPECT_EQ(facts["gpus"], "2 x NVIDIA H200");
  EXPECT_DOUBLE_EQ(wire_rate("", root()), 50e9) << "the fastest that is up";
  EXPECT_DOUBLE_EQ(wire_rate("mlx5_0", root()), 50e9);
  EXPECT_DOUBLE_EQ(wire_rate("eth0", root()), 25e9 / 8);
  EXPECT_EQ(wire_rate("eth1", root()), 0);
  EXPECT_EQ(wire_rate("ib7", root()), 0);
}

TEST_F(HostFiles, CountersAreThoseOfTheNamespace) {
  write(
      "proc/net/dev",
      "Inter-|   Receive                                                |  Transmit\n"
      " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop\n"
      "    lo: 10 1 0 0 0 0 0 0 20 1 0 0 0 0 0 0\n"
      "  eth0: 1000 9 2 0 0 0 0 0 3000 9 1 0 0 0 0 0\n");
  write("proc/net/snmp", "Tcp: A RetransSegs B\nTcp: 1 42 3\nUdp: X\nUdp: 7\n");
  write("sys/class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE\n");
  write("sys/class/infiniband/mlx5_0/ports/1/counters/port_xmit_data", "100\n");
  write("sys/class/infiniband/mlx5_0/ports/1/counters/symbol_error", "5\n");
  auto counters = host_counters(root());
  EXPECT_EQ(counters["received eth0"], 1000U);
  EXPECT_EQ(counters["sent eth0"], 3000U);
  EXPECT_EQ(counters["errors eth0"], 3U);
  EXPECT_EQ(counters["retransmits"], 42U);
  EXPECT_EQ(counters["sent mlx5_0/1"], 400U);
  EXPECT_EQ(counters["symbol errors mlx5_0/1"], 5U);
}

TEST_F(HostFiles, AnEmptyCounterIsNotKnown) {
  const std::string port = "sys/class/infiniband/ionic_0/ports/1/";
  write(port + "state", "4: ACTIVE\n");
  for (const char* file : {"port_xmit_data", "port_rcv_data", "symbol_error"})
    write(port + "counters/" + file, "");
  auto counters = host_counters(root());
  for (const char* name : {"sent", "received", "symbol errors", "link downs"})
    EXPECT_EQ(counters.count(std::string(name) + " ionic_0/1"), 0U) << name;
  write(port + "hw_counters/tx_rdma_ucast_bytes",
        "12345678901234567\n");  // more digits than a double has
  write(port + "hw_counters/rx_rdma_ucast_bytes", "7\n");
  counters = host_counters(root());
  EXPECT_EQ(counters["sent ionic_0/1"], 12345678901234567U);
  EXPECT_EQ(counters["received ionic_0/1"], 7U);
  write(port + "counters/port_xmit_data", "N/A (not supported)\n");
  EXPECT_EQ(host_counters(root())["sent ionic_0/1"], 12345678901234567U);
}

TEST_F(HostFiles, LinksOfDevicesSayWhatTheyCarry) {
  const std::string device = "sys/class/net/eth0/device/";
  write("sys/class/net/eth0/operstate", "up\n");
  write("sys/class/net/eth0/speed", "200000\n");
  write(device + "current_link_speed", "16.0 GT/s PCIe\n");
  write(device + "current_link_width", "8\n");
  write(device + "max_link_speed", "32.0 GT/s PCIe\n");
  write(device + "max_link_width", "16\n");
  write(device + "aer_dev_correctable", "RxErr 1\nBadTLP 2\nTOTAL_ERR_COR 3\n");
  EXPECT_EQ(host_facts(root())["pci eth0"], "16 GT/s x8 of 32 GT/s x16");
  EXPECT_DOUBLE_EQ(wire_rate("eth0", root()), 25e9);  // what is out of order is no excuse
  EXPECT_THAT(throttled_wires(root()),
              ElementsAre("eth0 carries 25 GB/s, its PCIe link 15.8 GB/s (16 GT/s x8 of 32 GT/s "
                          "x16)"));
  write("proc/net/dev", "a\nb\n  eth0: 1000 9 2 0 0 0 0 0 3000 9 1 0 0 0 0 0\n");
  EXPECT_EQ(host_counters(root())["PCIe corrected errors eth0"], 3U);
  // A device of few lanes cannot fill its port, ever.
  write(device + "max_link_speed", "16.0 GT/s PCIe\n");
  write(device + "max_link_width", "8\n");
  EXPECT_NEAR(wire_rate("eth0", root()), 15.75e9, 1e7);
  EXPECT_THAT(throttled_wires(root()), IsEmpty());
  EXPECT_EQ(host_facts(root())["pci eth0"], "16 GT/s x8");
  write(device + "current_link_speed", "Unknown\n");  // a virtual function
  write(device + "current_link_width", "0\n");
  EXPECT_EQ(host_facts(root()).count("pci eth0"), 0U);
  EXPECT_DOUBLE_EQ(wire_rate("eth0", root()), 25e9);
}

TEST(PciSpeed, IsThatOfTheStandardsTables) {
  EXPECT_DOUBLE_EQ(bytes_per_second({2.5, 1}), 0.25e9);
  EXPECT_DOUBLE_EQ(bytes_per_second({5, 8}), 4e9);
  EXPECT_NEAR(bytes_per_second({8, 16}), 15.754e9, 1e6);
  EXPECT_NEAR(bytes_per_second({32, 16}), 63.015e9, 1e6);
  EXPECT_NEAR(bytes_per_second({64, 16}), 121e9, 1e6);
}

TEST(Nvml, SaysNothingWhereItIsNot) {
  EXPECT_THAT(nvml_gpus("libno-such-library.so.1"), IsEmpty());
  EXPECT_THAT(facts_of_gpus({}), IsEmpty());
  EXPECT_EQ(slowest_nvlink({}), 0);
}

// What the GPUs of the stand-in have: tests/unit/fake_nvml.cpp.
TEST(Nvml, TellsWhatGpusSay) {
  const std::vector<NvmlGpu> gpus = nvml_gpus(CCL_FAKE_NVML);
  ASSERT_EQ(gpus.size(), 3U);
  EXPECT_EQ(gpus[0].facts.at("clocks"), "at most 1980 MHz, memory 2619 MHz");
  EXPECT_EQ(gpus[0].facts.at("power limit"), "700 W");
  EXPECT_EQ(gpus[0].facts.at("ecc"), "on");
  EXPECT_EQ(gpus[0].facts.at("pcie"), "x16 of x16");
  EXPECT_EQ(gpus[0].facts.at("nvlinks"), "18 of 18 up, 26.6 GB/s each");
  EXPECT_DOUBLE_EQ(gpus[0].nvlink_bytes_per_s, 18 * 26562e6);
  EXPECT_EQ(gpus[1].facts.at("nvlinks"), "16 of 18 up, 26.6 GB/s each");
  EXPECT_EQ(gpus[1].counters.at("uncorrected memory errors"), 1U);
  EXPECT_EQ(gpus[1].counters.at("corrected memory errors"), 7U);
  EXPECT_EQ(gpus[1].counters.at("NVLink errors"), 4U * 18);
  EXPECT_EQ(gpus[1].counters.at("rows to be remapped"), 1U);
  EXPECT_EQ(gpus[1].counters.at("PCIe replays"), 23U);
  EXPECT_EQ(gpus[1].counters.at("ms slowed down by heat"), 250U);
  EXPECT_THAT(gpus[2].facts, IsEmpty());  // it has fallen off the bus
  const Facts facts = facts_of_gpus(gpus);
  EXPECT_EQ(facts.at("gpu ecc"), "2 x on");
  EXPECT_EQ(facts.at("gpu nvlinks"),
            "1 x 16 of 18 up, 26.6 GB/s each, 1 x 18 of 18 up, 26.6 GB/s each");
  EXPECT_EQ(counters_of_gpus(gpus).at("PCIe replays gpu 1"), 23U);
  EXPECT_EQ(slowest_nvlink(gpus), 0);
  EXPECT_DOUBLE_EQ(slowest_nvlink({gpus[0], gpus[1]}), 16 * 26562e6);
  EXPECT_EQ(facts_of_gpus({gpus[0]}).at("gpu ecc"), "on");
}

TEST(Nvml, LinksAreACeilingInsideAHost) {
  EXPECT_EQ(nvlink_check("a", 360e9, 450e9, 0.7).verdict, Verdict::pass);
  const Check below = nvlink_check("a", 100e9, 450e9, 0.7);
  EXPECT_EQ(below.verdict, Verdict::inconclusive);
  EXPECT_EQ(below.reason, "BELOW_NVLINK");
  EXPECT_EQ(nvlink_check("a", 0, 450e9, 0.7).reason, "NOT_MEASURED");
}

}  // namespace
}  // namespace ccl_tests::acceptance
