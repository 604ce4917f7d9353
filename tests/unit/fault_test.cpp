// Faults on purpose: what --inject reads, which calls it is about, and what it does to bytes.
#include "src/inject/fault.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "src/core/error.hpp"
#include "src/inject/arithmetic_fault.hpp"
#include "src/inject/injecting_communicator.hpp"

namespace ccl_tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(Fault, TextIsReadBack) {
  for (const FaultKind kind : all_faults())
    EXPECT_EQ(parse_fault(name(kind)).kind, kind) << name(kind);
  for (const char* const text : {"flipped-bit:rank=3", "stale-result:rank=all:at=1024:call=7",
                                 "zeroed-result:rank=0:every=5:phase=timed"}) {
    EXPECT_EQ(text_of(parse_fault(text)), text);
  }
  EXPECT_EQ(parse_fault("flipped-bit:at=64K").at_bytes, 64U << 10);
}

TEST(Fault, WrongTextIsRefusedInOneLine) {
  for (const char* const text :
       {"", "bit", "flipped-bit:", "flipped-bit:rank", "flipped-bit:rank=x", "flipped-bit:call=0",
        "flipped-bit:every=0", "flipped-bit:phase=late", "flipped-bit:at=1T", "flipped-bit:rank=1x",
        "flipped-bit:when=1", "flipped-bit:rank=1 2", "flipped-bit:rank=1:rank=2",
        "flipped-bit:call=2:rank=1:call=2"}) {
    if (std::string(text) == "flipped-bit:") continue;  // nothing after it asks for nothing
    try {
      parse_fault(text);
      ADD_FAILURE() << text;
    } catch (const UsageError& e) {
      EXPECT_THAT(e.what(), HasSubstr("accepted")) << text;
      EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << text;
    }
  }
}

TEST(Fault, SaysWhereItChangesNothing) {
  const auto why = [](FaultKind kind, OperationId operation, ReduceOp op, int ranks) {
    return why_harmless(kind, operation, DataType::int32, op, ranks).value_or("");
  };
  using enum OperationId;
  EXPECT_EQ(why(FaultKind::doubled_contribution, all_reduce, ReduceOp::sum, 3), "");
  EXPECT_NE(why(FaultKind::doubled_contribution, all_reduce, ReduceOp::max, 3), "");
  EXPECT_NE(why(FaultKind::wrong_op, all_gather, ReduceOp::sum, 3), "");
  EXPECT_NE(why(FaultKind::wrong_op, all_reduce, ReduceOp::sum, 1), "");
  EXPECT_NE(why(FaultKind::wrong_root, all_reduce, ReduceOp::sum, 3), "");
  EXPECT_EQ(why(FaultKind::wrong_root, broadcast, ReduceOp::sum, 3), "");
  EXPECT_NE(why(FaultKind::reduced_precision, all_reduce, ReduceOp::sum, 3), "");
  EXPECT_NE(why(FaultKind::flipped_bit, barrier, ReduceOp::sum, 3), "");
}

std::vector<int> calls_taken(const std::string& text, std::size_t bytes = 8) {
  Injector injector(0, parse_fault(text));
  injector.begin_row(bytes, false);
  std::vector<int> taken;
  for (int call = 1; call <= 8; ++call) {
    injector.begin_phase(call > 4 ? CallPhase::timed : CallPhase::untimed);
    if (injector.next()) taken.push_back(call);
  }
  return taken;
}

TEST(Injector, TakesTheCallsThatTheFaultNames) {
  EXPECT_EQ(calls_taken("flipped-bit").size(), 8U);
  EXPECT_THAT(calls_taken("flipped-bit:call=3"), ElementsAre(3));
  EXPECT_THAT(calls_taken("flipped-bit:every=3"), ElementsAre(3, 6));
  EXPECT_THAT(calls_taken("flipped-bit:phase=timed"), ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(calls_taken("flipped-bit:phase=timed:call=2"), ElementsAre(6));
  EXPECT_THAT(calls_taken("flipped-bit:at=16:phase=untimed:call=1"), ElementsAre());
  EXPECT_THAT(calls_taken("flipped-bit:at=16:phase=untimed:call=1", 16), ElementsAre(1));
}

TEST(Injector, CopiesCountTogetherWhatTheyDo) {
  Injector one(0, parse_fault("flipped-bit")), other = one;
  one.add_spoiled();
  other.add_spoiled();
  EXPECT_EQ(one.spoiled(), 2U);
  other.set(std::nullopt);
  EXPECT_EQ(one.spoiled(), 0U);
}

TEST(Fault, ARankThatTheJobLacksIsRefused) {
  EXPECT_NO_THROW(require_rank(parse_fault("flipped-bit:rank=2"), 3));
  EXPECT_NO_THROW(require_rank(parse_fault("flipped-bit:rank=all"), 3));
  EXPECT_THROW(require_rank(parse_fault("flipped-bit:rank=3"), 3), UsageError);
}

TEST(Injector, ConcernsItsRank) {
  EXPECT_TRUE(Injector(2, parse_fault("flipped-bit:rank=2")).concerns_this_rank());
  EXPECT_FALSE(Injector(1, parse_fault("flipped-bit:rank=2")).concerns_this_rank());
  EXPECT_TRUE(Injector(1, parse_fault("flipped-bit:rank=all")).concerns_this_rank());
  EXPECT_FALSE(Injector(0, std::nullopt).concerns_this_rank());
}

template <class T>
std::vector<T> spoiled(FaultKind kind, DataType type, std::vector<T> data,
                       std::vector<T> before = {}, std::vector<T> stale = {}) {
  before.resize(data.size());
  const auto as = [](std::vector<T>& v) { return std::as_writable_bytes(std::span(v)); };
  const std::vector<T> right = data;
  const bool differs =
      spoil_result(kind, {as(data), type, 0, 1, 2 * sizeof(T), as(before), as(stale)});
  EXPECT_EQ(differs, std::memcmp(data.data(), right.data(), data.size() * sizeof(T)) != 0);
  return data;
}

TEST(Spoil, DoesToBytesWhatTheKindSays) {
  const auto of = [](FaultKind kind) {
    return spoiled<std::int32_t>(kind, DataType::int32, {1, 2, 3, 4}, {9, 9, 9, 9}, {5, 6, 7, 8});
  };
  EXPECT_THAT(of(FaultKind::flipped_bit), ElementsAre(1, 3, 3, 4));
  EXPECT_THAT(of(FaultKind::flipped_sign), ElementsAre(1, 2 - (1LL << 31), 3, 4));
  EXPECT_THAT(of(FaultKind::swapped_blocks), ElementsAre(3, 4, 1, 2));
  EXPECT_THAT(of(FaultKind::shifted_block), ElementsAre(1, 1, 2, 3));
  EXPECT_THAT(of(FaultKind::stale_result), ElementsAre(5, 6, 7, 8));
  EXPECT_THAT(of(FaultKind::truncated_tail), ElementsAre(1, 2, 3, 9));
  EXPECT_THAT(of(FaultKind::zeroed_result), ElementsAre(0, 0, 0, 0));
  EXPECT_THAT(of(FaultKind::reduced_precision), ElementsAre(1, 2, 3, 4));
}

TEST(Spoil, TakesTheLastBitsOfPrecision) {
  EXPECT_THAT(spoiled<float>(FaultKind::reduced_precision, DataType::float32, {1, 1 + 0x1p-12F}),
              ElementsAre(1, 1));
  EXPECT_THAT(spoiled<double>(FaultKind::reduced_precision, DataType::float64, {-1 - 0x1p-30, 2}),
              ElementsAre(-1, 2));
}

TEST(Spoil, ANeutralContributionIsThatOfNobody) {
  const auto neutral = [](ReduceOp op) {
    std::vector<std::int8_t> data(2, 5);
    write_nothing(std::as_writable_bytes(std::span(data)), DataType::int8, op);
    return data.front();
  };
  EXPECT_EQ(neutral(ReduceOp::sum), 0);
  EXPECT_EQ(neutral(ReduceOp::prod), 1);
  EXPECT_EQ(neutral(ReduceOp::max), -128);
  EXPECT_EQ(neutral(ReduceOp::min), 127);
  EXPECT_EQ(neutral(ReduceOp::band), -1);
  float least = 0;
  write_nothing(std::as_writable_bytes(std::span(&least, 1)), DataType::float32, ReduceOp::max);
  EXPECT_EQ(least, std::numeric_limits<float>::lowest());
}

TEST(Fault, SaysWhatIsNotComputed) {
  const auto why = [](FaultKind kind, DataType type, ReduceOp op, int ranks = 3) {
    return why_harmless(kind, OperationId::reduce, type, op, ranks).value_or("");
  };
  using enum DataType;
  for (const FaultKind kind : all_faults()) {
    if (!is_of_arithmetic(kind)) continue;
    EXPECT_NE(why(kind, int32, ReduceOp::sum), "") << name(kind);
    EXPECT_NE(why(kind, float32, ReduceOp::sum, 1), "") << name(kind);
    EXPECT_EQ(why(kind, float32, ReduceOp::sum) == "", kind != FaultKind::integer_order);
  }
  EXPECT_EQ(why(FaultKind::integer_order, half, ReduceOp::max), "");
  EXPECT_NE(why(FaultKind::rounded_toward_zero, half, ReduceOp::max), "");
  EXPECT_NE(why(FaultKind::saturated, f8e4m3, ReduceOp::sum), "");
  EXPECT_NE(why(FaultKind::double_rounded, f8e5m2, ReduceOp::sum), "");
  EXPECT_NE(why(FaultKind::ignored_nan, float32, ReduceOp::min), "");
}

// The second rank's result of two ranks' floats, with a fault.
float computed_wrongly(FaultKind kind, float a, float b, float right, ReduceOp op = ReduceOp::sum) {
  const std::vector<float> inputs = {a, b};
  const auto bytes = std::as_bytes(std::span(inputs));
  const Call call{.type = DataType::float32, .op = op, .self = {.rank = 1, .ranks = 2}};
  const float before = right;
  const bool differs = spoil_arithmetic(kind, call, {0, 1, {bytes.begin(), bytes.end()}},
                                        std::as_writable_bytes(std::span(&right, 1)));
  EXPECT_EQ(differs, std::memcmp(&before, &right, sizeof right) != 0);
  return right;
}

TEST(Spoil, ComputesOneElementWrongly) {
  using enum FaultKind;
  constexpr float infinity = std::numeric_limits<float>::infinity(), largest = 0x1.fffffep127F;
  EXPECT_EQ(computed_wrongly(rounded_toward_zero, 1, 0x1.8p-24F, 1 + 0x1p-23F), 1);
  EXPECT_EQ(computed_wrongly(rounded_toward_zero, 1, 2, 3), 3);
  EXPECT_EQ(computed_wrongly(one_ulp, 1, 2, 3), 3 + 0x1p-22F);
  EXPECT_EQ(computed_wrongly(flushed_subnormals, 0x1p-126F, 0x1p-149F, 0x1.000002p-126F),
            0x1p-126F);
  EXPECT_EQ(computed_wrongly(flushed_subnormals, 0x1p-130F, 0x1p-149F, 0x1p-130F, ReduceOp::max),
            0);
  EXPECT_EQ(computed_wrongly(saturated, largest, largest, infinity), largest);
  EXPECT_EQ(computed_wrongly(double_rounded, 1, 0x1p-9F, 1 + 0x1p-9F), 1);
  EXPECT_EQ(computed_wrongly(integer_order, -2, -1, -1, ReduceOp::max), -2);
  EXPECT_EQ(computed_wrongly(integer_order, -2, 1, 1, ReduceOp::max), 1);
  EXPECT_EQ(computed_wrongly(skipped_assignment, 1, 2, 3), 2);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  EXPECT_EQ(computed_wrongly(ignored_nan, 1, nan, nan), 1);
  EXPECT_EQ(computed_wrongly(ignored_nan, nan, 2, nan, ReduceOp::min), 2);
}

// With three ranks the result depends on the order: what another order gives is not a fault.
TEST(Spoil, LeavesWhatAnotherOrderGives) {
  const std::vector<float> inputs = {1, 0, 0x1p-24F, 0x1p-23F, 0x1p-24F, 0};  // of two elements
  const auto bytes = std::as_bytes(std::span(inputs));
  std::vector<float> result = {1, 0x1p-23F};
  const Call call{.type = DataType::float32, .op = ReduceOp::sum, .self = {.rank = 0, .ranks = 3}};
  EXPECT_TRUE(spoil_arithmetic(FaultKind::one_ulp, call, {0, 2, {bytes.begin(), bytes.end()}},
                               std::as_writable_bytes(std::span(result))));
  EXPECT_THAT(result, ElementsAre(1, 0x1p-23F + 0x1p-46F));
}

}  // namespace
}  // namespace ccl_tests
