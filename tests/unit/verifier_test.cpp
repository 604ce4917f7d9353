// What the verifier finds, and that it finds nothing in right data.
#include "verify/verifier.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "tests/unit/verify_world.hpp"

namespace ccl_tests::verify {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr std::size_t counts[] = {0, 1, 2, 3, 37, 4093, 4095, 20'001};

std::vector<std::optional<ReduceOp>> all_kinds(DataType type) {
  std::vector<std::optional<ReduceOp>> kinds = {std::nullopt};
  for (const ReduceOp op : ops_of(type)) kinds.emplace_back(op);
  return kinds;
}

class VerifierTypes : public testing::TestWithParam<DataType> {};

TEST_P(VerifierTypes, HasNothingAgainstRightResults) {
  for (const auto& op : all_kinds(GetParam())) {
    for (const int ranks : {1, 3, 4}) {
      const VerifyWorld world(GetParam(), op, ranks);
      for (const std::size_t count : counts) {
        for (const std::size_t slot : {std::size_t{0}, std::size_t{7}}) {
          const ExpectedBlock s{.count = count,
                                .source_rank = op ? ExpectedBlock::all_ranks : ranks - 1};
          const auto data = op ? world.reduced(count, slot) : world.input(ranks - 1, count, slot);
          const Mismatch found = world.rank(0).compare(data.data(), {&s, 1}, slot);
          EXPECT_EQ(found.wrong, 0U) << count << ' ' << found.explanation;
          const auto sent = world.input(0, count, slot);
          EXPECT_EQ(world.rank(0).compare_input(sent.data(), count, slot).wrong, 0U);
        }
      }
    }
  }
}

// Averages of three ranks have a tolerance in some types: there the bit is one of the exponent's.
TEST_P(VerifierTypes, FindsEveryFlippedBit) {
  for (const auto& op : all_kinds(GetParam())) {
    const VerifyWorld world(GetParam(), op, 3);
    const bool exact = world.pattern->inputs().tolerance() == 0;
    for (const std::size_t count : {std::size_t{1}, std::size_t{2}, std::size_t{20'001}}) {
      const ExpectedBlock s{.count = count, .source_rank = op ? ExpectedBlock::all_ranks : 1};
      auto data = op ? world.reduced(count, 2) : world.input(1, count, 2);
      for (const std::size_t at : {std::size_t{0}, count / 2, count - 1}) {
        const std::size_t top = 8 * world.width - 2;
        for (std::size_t bit = exact ? 0 : top; bit < (exact ? 8 * world.width : top + 1); ++bit) {
          std::byte& changed = data[at * world.width + bit / 8];
          changed ^= std::byte{1} << (bit % 8);
          const Mismatch found = world.rank(0).compare(data.data(), {&s, 1}, 2);
          EXPECT_EQ(found.wrong, 1U) << "bit " << bit << " of element " << at << " of " << count;
          EXPECT_EQ(found.first, at);
          EXPECT_EQ(found.last, at);
          changed ^= std::byte{1} << (bit % 8);
        }
      }
    }
  }
}

TEST_P(VerifierTypes, PoisonDiffersFromWhatIsExpectedInEveryElement) {
  for (const auto& op : all_kinds(GetParam())) {
    const VerifyWorld world(GetParam(), op, 3);
    for (const std::size_t count : {1, 2, 1000, 4096}) {
      const ExpectedBlock s{.count = count, .source_rank = op ? ExpectedBlock::all_ranks : 2};
      for (std::size_t slot = 0; slot < 8; ++slot) {
        std::vector<std::byte> data = op ? world.reduced(count, slot) : world.input(2, count, slot);
        world.rank(0).poison(data.data(), count, {&s, 1}, slot);
        const Mismatch found = world.rank(0).compare(data.data(), {&s, 1}, slot);
        EXPECT_EQ(found.wrong, count);
        EXPECT_NE(found.explanation.find("never written"), std::string::npos) << found.explanation;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(AllTypes, VerifierTypes,
                         testing::ValuesIn(all_types().begin(), all_types().end()),
                         [](const auto& test) { return std::string(name(test.param)); });

TEST(VerifierPoison, LongBuffersAreOverwrittenToTheLastByte) {
  const VerifyWorld world(DataType::int32, std::nullopt, 3);
  const std::size_t count = 10'000;
  const ExpectedBlock s{.count = count, .source_rank = 1};
  auto data = world.input(1, count, 0);
  const auto right = data;
  world.rank(0).poison(data.data(), count, {&s, 1}, 0);
  EXPECT_GT(world.rank(0).compare(data.data(), {&s, 1}, 0).wrong, count - 10);
  EXPECT_NE(std::memcmp(data.data() + 4 * (count - 1), right.data() + 4 * (count - 1), 4), 0);
}

TEST(VerifierCompare, CountsAndPlacesWhatIsWrong) {
  const VerifyWorld world(DataType::float32, std::nullopt, 4);
  const std::size_t count = 9000;
  const ExpectedBlock s{.count = count, .source_rank = 3};
  auto data = world.input(3, count, 0);
  for (const std::size_t i : {17, 18, 5000, 8999}) data[4 * i] ^= std::byte{1};
  const Mismatch found = world.rank(0).compare(data.data(), {&s, 1}, 0);
  EXPECT_EQ(found.wrong, 4U);
  EXPECT_EQ(found.first, 17U);
  EXPECT_EQ(found.last, 8999U);
}

// Strided runs: block b of rank 1's input interleaved with gaps that belong to nobody.
TEST(VerifierCompare, ReadsStridedBlocks) {
  const VerifyWorld world(DataType::half, std::nullopt, 3);
  const ExpectedBlock s{.recv_offset = 5,
                        .count = 3,
                        .source_rank = 1,
                        .source_offset = 2,
                        .repeat = 1000,
                        .recv_stride = 7,
                        .source_stride = 4};
  const auto source = world.input(1, 2 + 4 * 1000, 0);
  std::vector<std::byte> data(2 * (5 + 7 * 1000));
  world.rank(0).poison(data.data(), data.size() / 2, {&s, 1}, 0);
  EXPECT_EQ(world.rank(0).compare(data.data(), {&s, 1}, 0).wrong, 3000U);
  for (std::size_t b = 0; b < 1000; ++b) {
    std::memcpy(data.data() + 2 * (5 + 7 * b), source.data() + 2 * (2 + 4 * b), 6);
  }
  EXPECT_EQ(world.rank(0).compare(data.data(), {&s, 1}, 0).wrong, 0U);
  data[2 * (5 + 7 * 999 + 3)] ^= std::byte{1};  // in the gap
  EXPECT_EQ(world.rank(0).compare(data.data(), {&s, 1}, 0).wrong, 0U);
  data[2 * (5 + 7 * 999 + 2)] ^= std::byte{1};
  const Mismatch found = world.rank(0).compare(data.data(), {&s, 1}, 0);
  EXPECT_EQ(found.wrong, 1U);
  EXPECT_EQ(found.first, 5U + 7 * 999 + 2);
}

TEST(VerifierCompare, AddsBlocksUp) {
  const VerifyWorld world(DataType::uint8, std::nullopt, 3);
  const ExpectedBlock blocks[] = {
      {.recv_offset = 0, .count = 100, .source_rank = 1, .source_offset = 0},
      {.recv_offset = 100, .count = 100, .source_rank = 2, .source_offset = 50}};
  std::vector<std::byte> data = world.input(1, 100, 0);
  const auto second = world.input(2, 150, 0);
  data.insert(data.end(), second.begin() + 50, second.end());
  EXPECT_EQ(world.rank(0).compare(data.data(), blocks, 0).wrong, 0U);
  data[3] ^= std::byte{1};
  data[150] ^= std::byte{1};
  const Mismatch found = world.rank(0).compare(data.data(), blocks, 0);
  EXPECT_EQ(found.wrong, 2U);
  EXPECT_EQ(found.first, 3U);
  EXPECT_EQ(found.last, 150U);
}

TEST(VerifierGuards, EveryByteAroundTheDataIsWatched) {
  const VerifyWorld world(DataType::float32, ReduceOp::sum, 1);
  std::vector<std::byte> buffer(40 + 2 * guard_bytes);
  std::byte* const data = buffer.data() + guard_bytes;
  world.rank(0).mark_guards(data, 40);
  const auto check = [&] { return world.rank(0).check_guards(data, 40); };
  EXPECT_EQ(check().wrong, 0U);
  for (const std::ptrdiff_t at : {std::ptrdiff_t{-1}, -std::ptrdiff_t{guard_bytes}}) {
    data[at] ^= std::byte{1};
    EXPECT_EQ(check().wrong, 1U) << at;
    EXPECT_NE(check().explanation.find("before"), std::string::npos);
    data[at] ^= std::byte{1};
  }
  for (const std::size_t at : {std::size_t{40}, 40 + guard_bytes - 1}) {
    data[at] ^= std::byte{1};
    EXPECT_EQ(check().wrong, 1U) << at;
    EXPECT_NE(check().explanation.find("past the end"), std::string::npos);
    data[at] ^= std::byte{1};
  }
  EXPECT_EQ(check().wrong, 0U);
}

TEST(VerifierInput, ChangesOfTheSendBufferAreFound) {
  const VerifyWorld world(DataType::bfloat16, ReduceOp::sum, 3);
  auto data = world.input(2, 5000, 4);
  EXPECT_EQ(world.rank(2).compare_input(data.data(), 5000, 4).wrong, 0U);
  EXPECT_NE(world.rank(2).compare_input(data.data(), 5000, 3).wrong, 0U);
  data[9999] ^= std::byte{0x80};
  const Mismatch found = world.rank(2).compare_input(data.data(), 5000, 4);
  EXPECT_EQ(found.wrong, 1U);
  EXPECT_EQ(found.first, 4999U);
  EXPECT_NE(found.explanation.find("send buffer"), std::string::npos);
}

// Loops of the host that call `lies` elements more of each run wrong than are.
class Lying : public Loops {
 public:
  explicit Lying(int lies) : lies_(lies) {}
  std::unique_ptr<PlacedTable> place(const Table& table) override { return right_->place(table); }
  void fill(std::byte* out, std::size_t count, const PlacedTable& table,
            std::size_t first) override {
    right_->fill(out, count, table, first);
  }
  std::vector<Difference> compare(std::span<const StridedRange> runs,
                                  std::uint64_t tolerance) override {
    auto found = right_->compare(runs, tolerance);
    for (Difference& d : found) {
      d.wrong += static_cast<std::uint64_t>(lies_);
      d.last = d.first + d.wrong - 1;
    }
    return found;
  }
  void set(std::byte* out, std::byte value, std::size_t bytes) override {
    right_->set(out, value, bytes);
  }
  void fill_constant(std::byte* out, std::byte value, std::size_t bytes) override {
    right_->fill_constant(out, value, bytes);
  }
  void fetch(std::byte* host, const std::byte* data, std::size_t bytes) override {
    right_->fetch(host, data, bytes);
  }
  void store(std::byte* out, const std::byte* host, std::size_t bytes) override {
    right_->store(out, host, bytes);
  }

 private:
  std::unique_ptr<Loops> right_ = make_host_loops();
  int lies_;
};

std::string explained(int wrong, int lies, ReduceOp op) {
  const auto pattern = std::make_shared<const Pattern>(DataType::float32, op, 3, 1);
  Lying loops(lies);
  const Verifier verifier(pattern, 0, loops);
  VerifyWorld world(DataType::float32, op, 3);
  auto data = world.reduced(5000, 0);
  for (int k = 0; k < wrong; ++k) data[4 * static_cast<std::size_t>(k) + 2] ^= std::byte{0x80};
  const ExpectedBlock s{.count = 5000};
  return verifier.compare(data.data(), {&s, 1}, 0).explanation;
}

TEST(VerifierSecondLook, SaysWhoseTheMistakeIs) {
  for (const ReduceOp op : {ReduceOp::sum, ReduceOp::avg}) {
    EXPECT_THAT(explained(2, 0, op), EndsWith("; confirmed on the host"));
    EXPECT_THAT(explained(0, 3, op), HasSubstr("not confirmed on the host, where all is right: "
                                               "the verifier is at fault, or data came late"));
    EXPECT_THAT(explained(2, 3, op),
                HasSubstr("not confirmed on the host, where 2 are wrong, 0 to 1"));
  }
}

TEST(VerifierSecondLook, FindsBlocksThatLieApart) {
  const VerifyWorld world(DataType::int8, std::nullopt, 3);
  constexpr std::size_t blocks = 1000;
  const ExpectedBlock s{
      .count = 3, .source_rank = 1, .repeat = blocks, .recv_stride = 7, .source_stride = 4};
  std::vector<std::byte> data(7 * blocks);
  world.rank(0).poison(data.data(), data.size(), {&s, 1}, 0);
  const Mismatch found = world.rank(0).compare(data.data(), {&s, 1}, 0);
  EXPECT_GT(found.wrong, 2900U);
  EXPECT_THAT(found.explanation, EndsWith("; confirmed on the host"));
}

}  // namespace
}  // namespace ccl_tests::verify
