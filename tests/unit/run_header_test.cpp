// What the header says of where the ranks are.
#include "src/run/run_header.hpp"

#include <gtest/gtest.h>

namespace ccl_tests {
namespace {

RankIdentity on(const char* host, const char* machine) {
  return {host, machine, {}, 0, 0, {}, 0, {}};
}

TEST(RanksPerHost, CountsHostsWhateverTheirOrder) {
  EXPECT_EQ(ranks_per_host({on("a", "1")}), "");
  EXPECT_EQ(ranks_per_host({on("a", "1"), on("a", "1")}), "");
  EXPECT_EQ(ranks_per_host({on("a", "1"), on("b", "2")}), "2 ranks on 2 hosts: 1 on each");
  EXPECT_EQ(ranks_per_host({on("a", "1"), on("b", "2"), on("a", "1")}),
            "3 ranks on 2 hosts: 1 to 2 on each");
}

TEST(RanksPerHost, ContainersOfOneMachineAndMachinesOfOneNameAreHostsOfTheirOwn) {
  EXPECT_EQ(ranks_per_host({on("a", "1"), on("b", "1"), on("a", "2")}),
            "3 ranks on 3 hosts: 1 on each");
}

}  // namespace
}  // namespace ccl_tests
