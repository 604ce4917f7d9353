// Which wires the data took.

#include <gtest/gtest.h>

#include "tools/acceptance/stages/stages.hpp"

namespace ccl_tests::acceptance {
namespace {

constexpr std::uint64_t gb = 1'000'000'000;

// 4 messages of 1 MB take 20 ms each, 50 MB/s.
TEST(MessageSizes, ABufferTakesWhatIsNotLasting) {
  constexpr std::size_t brief = 100'000, lasting = 1'000'000;
  const std::vector<double> of_long = {0.02, 0.02, 0.02, 0.02};
  EXPECT_FALSE(are_buffered({0.002, 0.002, 0.002, 0.002}, brief, of_long, lasting, 0.1));
  EXPECT_FALSE(are_buffered({0.004, 0.004, 0.004, 0.004}, brief, of_long, lasting, 0.1));
  EXPECT_TRUE(are_buffered({0.001, 0.001, 0.001, 0.001}, brief, of_long, lasting, 0.1));
  EXPECT_TRUE(are_buffered({0.001, 0.001, 0.002, 0.002}, brief, of_long, lasting, 0.1))
      << "of one pair of two";
  EXPECT_FALSE(are_buffered({0.001, 0.002, 0.002, 0.002}, brief, of_long, lasting, 0.1))
      << "chance";
  EXPECT_FALSE(are_buffered({0.00193, 0.00193}, brief, of_long, lasting, 0.1)) << "half of 10 %";
  EXPECT_FALSE(are_buffered({0, 0}, brief, of_long, lasting, 0.1));
  EXPECT_FALSE(are_buffered({}, brief, {}, lasting, 0.1));
}

TEST(WireChecks, DataThatTookAnotherWireFail) {
  const std::vector<Counters> counted = {{{"sent eth0", 2 * gb}, {"sent ib0/1", gb / 50}},
                                         {{"sent eth0", gb}, {"sent ib0/1", gb / 50}}};
  const Check wrong = wire_check(counted, "ib0", 3 * gb);
  EXPECT_EQ(wrong.verdict, Verdict::fail);
  EXPECT_EQ(wrong.reason, "WRONG_WIRE");
  EXPECT_EQ(wrong.text, "99 % of 3.04 GB over eth0, not ib0");
  EXPECT_EQ(wire_check(counted, "eth0", 3 * gb).verdict, Verdict::pass);
  const Check any = wire_check(counted, "", 3 * gb);
  EXPECT_EQ(any.verdict, Verdict::pass);
  EXPECT_EQ(any.text, "99 % of 3.04 GB over eth0");
}

TEST(WireChecks, DataThatNobodyCountedSayNothing) {
  const std::vector<Counters> counted = {{{"sent eth0", gb / 10}, {"sent lo", 9 * gb}}};
  EXPECT_EQ(wire_check(counted, "ib0", gb).verdict, Verdict::inconclusive);
  EXPECT_EQ(wire_check(counted, "", gb).verdict, Verdict::skipped);
  EXPECT_EQ(wire_check({{}}, "ib0", gb).verdict, Verdict::inconclusive);
  EXPECT_EQ(wire_check({{}}, "", 0).verdict, Verdict::skipped);
}

// IP over InfiniBand counts under two names.
TEST(WireChecks, AWireMayCountTwice) {
  const std::vector<Counters> counted = {{{"sent ib0", 3 * gb}, {"sent mlx5_0/1", 3 * gb}}};
  EXPECT_EQ(wire_check(counted, "ib0", 3 * gb).verdict, Verdict::pass);
  EXPECT_EQ(wire_check(counted, "mlx5_0", 3 * gb).verdict, Verdict::pass);
}

// Of a collective nobody knows how much a library sends between hosts.
TEST(WireChecks, MostOfAStagesDataHasToTakeTheWire) {
  const std::vector<Counters> counted = {{{"sent eth0", 9 * gb}, {"sent ib0/1", gb}}};
  const Check wrong = share_check("full", counted, "ib0");
  EXPECT_EQ(wrong.id, "full/wire");
  EXPECT_EQ(wrong.verdict, Verdict::fail);
  EXPECT_EQ(wrong.reason, "WRONG_WIRE");
  EXPECT_EQ(wrong.text, "90 % of 10 GB over eth0, not ib0");
  EXPECT_EQ(share_check("full", counted, "eth0").verdict, Verdict::pass);
  EXPECT_EQ(share_check("full", {{{"sent ib0", gb}, {"sent mlx5_0/1", gb}}}, "ib0").verdict,
            Verdict::pass);
  // Other ranks of a host have network cards of their own.
  EXPECT_EQ(
      share_check("full", {{{"sent mlx5_0/1", gb}, {"sent mlx5_1/1", 3 * gb}}}, "mlx5_0").verdict,
      Verdict::pass);
  EXPECT_EQ(share_check("full", {{{"sent eth0", 1000}}}, "ib0").verdict, Verdict::skipped);
  EXPECT_EQ(share_check("full", {{}}, "ib0").verdict, Verdict::skipped);
  // A card whose counter is empty on one host is not a wire that nothing went over.
  const Check unknown =
      share_check("full", {{{"sent eth0", gb}, {"sent ib0/1", gb}}, {{"sent eth0", gb}}}, "ib0");
  EXPECT_EQ(unknown.verdict, Verdict::skipped);
  EXPECT_EQ(unknown.text, "ib0 does not count what it sends");
}

}  // namespace
}  // namespace ccl_tests::acceptance
