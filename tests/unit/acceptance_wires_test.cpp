// Which wires the data took, who is gone, what hosts say of themselves.
#include "tools/acceptance/wires.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/temporary_folder.hpp"
#include "tools/acceptance/facts.hpp"
#include "tools/acceptance/lost_hosts.hpp"

namespace ccl_tests::acceptance {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint64_t gb = 1'000'000'000;

Check wire(const std::vector<Counters>& counted, const std::string& interface, std::uint64_t sent) {
  return wire_checks(std::vector<std::string>(counted.size(), "a"), counted, interface, sent)
      .front();
}

TEST(WireChecks, DataThatTookAnotherWireFail) {
  const std::vector<Counters> counted = {{{"sent eth0", 2 * gb}, {"sent ib0/1", gb / 50}},
                                         {{"sent eth0", gb}, {"sent ib0/1", gb / 50}}};
  const Check wrong = wire(counted, "ib0", 3 * gb);
  EXPECT_EQ(wrong.verdict, Verdict::fail);
  EXPECT_EQ(wrong.reason, "WRONG_WIRE");
  EXPECT_EQ(wrong.text, "99 % of 3.04 GB over eth0, not ib0");
  EXPECT_EQ(wire(counted, "eth0", 3 * gb).verdict, Verdict::pass);
  const Check any = wire(counted, "", 3 * gb);
  EXPECT_EQ(any.verdict, Verdict::pass);
  EXPECT_EQ(any.text, "99 % of 3.04 GB over eth0");
}

TEST(WireChecks, DataThatNobodyCountedSayNothing) {
  const std::vector<Counters> counted = {{{"sent eth0", gb / 10}, {"sent lo", 9 * gb}}};
  EXPECT_EQ(wire(counted, "ib0", gb).verdict, Verdict::inconclusive);
  EXPECT_EQ(wire(counted, "", gb).verdict, Verdict::skipped);
  EXPECT_EQ(wire({{}}, "ib0", gb).verdict, Verdict::inconclusive);
  EXPECT_EQ(wire({{}}, "", 0).verdict, Verdict::skipped);
}

// IP over InfiniBand counts under two names.
TEST(WireChecks, AWireMayCountTwice) {
  const std::vector<Counters> counted = {{{"sent ib0", 3 * gb}, {"sent mlx5_0/1", 3 * gb}}};
  EXPECT_EQ(wire(counted, "ib0", 3 * gb).verdict, Verdict::pass);
  EXPECT_EQ(wire(counted, "mlx5_0", 3 * gb).verdict, Verdict::pass);
}

TEST(WireChecks, ErrorsOfLinksAreWarnings) {
  const auto checks = wire_checks(
      {"a", "b"},
      {{{"sent eth0", gb}, {"retransmits", 7}}, {{"sent eth0", gb}, {"symbol errors mlx5_0/1", 3}}},
      "", 2 * gb);
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[1].subject, "host b");
  EXPECT_EQ(checks[1].verdict, Verdict::warn);
  EXPECT_THAT(checks[1].text, HasSubstr("3 symbol errors mlx5_0/1"));
}

TEST(LostHosts, AreNamedByTheWordsOfAFailure) {
  EXPECT_THAT(lost_hosts({"rank 5 on node7 (pid 4711) is gone during all_reduce float sum"}),
              ElementsAre("node7"));
  EXPECT_THAT(
      lost_hosts(
          {"rank 0/3 on a: X: inside the library for 11 s without an end; for 4 s there has been "
           "no sign of life from rank 1 on b (pid 5) and rank 2 on c.d (pid 6); last heard of: rank "
           "0 on e (pid 9)"}),
      ElementsAre("b", "c.d"));
  EXPECT_THAT(lost_hosts({"ranks 0-7 on node7 (pid 4711) are gone", "rank 3 on x (pid 1) is gone",
                          "first: rank 3 on x (pid 1) is gone"}),
              ElementsAre("node7", "x"));
  EXPECT_THAT(lost_hosts({"did not come to an exchange in time: rank 3 on x (pid 1)"}), IsEmpty());
  EXPECT_THAT(lost_hosts({"rank 0/3 on a: gloo failed", ""}), IsEmpty());
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
  EXPECT_EQ(facts_of(to_text(facts)), facts);
  EXPECT_THAT(wires(root()), ElementsAre("mlx5_0/1", "eth0"));
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
  EXPECT_EQ(counters_of(to_text(counters)), counters);
}

}  // namespace
}  // namespace ccl_tests::acceptance
