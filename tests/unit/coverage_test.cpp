// The smallest message at which the loss of any one rank's contribution shows, per type, operation
// and rank count: stated in coverage.txt, held against really leaving ranks out.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "tests/golden/committed.hpp"
#include "verify/inputs.hpp"

namespace ccl_tests::verify {
namespace {

constexpr std::array rank_counts = {1, 2, 3, 4, 8, 16, 64, 256, 1024, 4096};

// The columns that are computed: the last two take a minute, and only CCL_NIGHTLY computes them.
std::span<const int> computed() {
  const std::span<const int> all(rank_counts);
  const bool every =
      std::getenv("CCL_NIGHTLY") != nullptr || std::getenv("CCL_UPDATE_GOLDEN") != nullptr;
  return every ? all : all.first(all.size() - 2);
}

// The file without the columns that are not.
std::string stated_table(std::istream& file) {
  constexpr std::size_t names_width = 17, width = 8;
  std::string text;
  for (std::string line; std::getline(file, line); text += '\n')
    text += line.starts_with('#') ? line : line.substr(0, names_width + width * computed().size());
  return text;
}

// Returns the smallest message, in elements, in which every rank's missing contribution shows,
// wherever below first_phases() in the period it starts; 0: none up to a period long. O(ranks x
// period).
std::size_t complete_from(const Inputs& inputs) {
  if (!inputs.op() || inputs.ranks() == 1) return 1;
  const std::size_t period = inputs.period();
  const std::size_t starts = first_phases(inputs);
  std::vector<std::uint64_t> totals(period);
  for (std::size_t j = 0; j < period; ++j) totals[j] = inputs.total(j);
  std::size_t needed = 1;
  for (int rank = 0; rank < inputs.ranks(); ++rank) {
    std::size_t start = 0;  // of the longest message that ends here and has not shown the loss
    for (std::size_t i = 0; start < starts; ++i) {
      if (i - start == period) return 0;
      if (!inputs.shows_loss(rank, i % period, totals[i % period])) continue;
      needed = std::max(needed, i - start + 1);
      start = i + 1;
    }
  }
  return needed;
}

std::string stated(DataType type, ReduceOp op, int ranks) {
  const Inputs inputs(type, op, ranks, 1);
  if (!inputs.verifiable()) return "N/A";
  const std::size_t elements = complete_from(inputs);
  return elements == 0 ? "never" : fmt::format("{}", elements * size_of(type));
}

std::string table() {
  std::string text =
      "# Bytes from which on the loss of any one rank's contribution shows, wherever in the "
      "pattern's period the message starts.\n"
      "# never: not in a whole period; N/A: the result says nothing, and the row says so.\n";
  text += fmt::format("{:9} {:7}", "type", "op");
  for (const int ranks : computed()) text += fmt::format(" {:>7}", ranks);
  for (const DataType type : all_types()) {
    for (const ReduceOp op : ops_of(type)) {
      text += fmt::format("\n{:9} {:7}", name(type), name(op));
      for (const int ranks : computed()) text += fmt::format(" {:>7}", stated(type, op, ranks));
    }
  }
  return text + "\n";
}

TEST(Coverage, IsWhatTheFileStates) {
  const std::string path = CCL_TEST_SOURCES "/coverage.txt";
  const std::string now = table();
  if (std::getenv("CCL_UPDATE_GOLDEN") != nullptr) {
    test::expect_committed(path, now);
    return;
  }
  std::ifstream file(path);
  EXPECT_EQ(now, stated_table(file));
}

// Leaves each rank out of every window of the stated length, and finds one window that is an
// element shorter where the loss of some rank does not show.
TEST(Coverage, HoldsWhenRanksAreReallyLeftOut) {
  for (const DataType type : {DataType::f8e5m2, DataType::f8e4m3, DataType::bfloat16,
                              DataType::float32, DataType::int8, DataType::uint64}) {
    for (const ReduceOp op : ops_of(type)) {
      for (const int ranks : {2, 3, 4, 17}) {
        const Inputs inputs(type, op, ranks, 1);
        if (!inputs.verifiable()) continue;
        const std::size_t length = complete_from(inputs);
        if (length == 0) continue;
        const std::size_t starts = first_phases(inputs);
        bool shorter_is_enough = true;
        for (int rank = 0; rank < ranks; ++rank) {
          std::size_t since = 0;  // elements that have not shown the loss
          for (std::size_t j = 0; j < starts + length - 1; ++j) {
            const std::size_t element = j % inputs.period();
            since = inputs.reduced(element) != inputs.reduced(element, rank) ? 0 : since + 1;
            ASSERT_LT(since, length)
                << name(type) << ' ' << name(op) << " rank " << rank << " of " << ranks;
            if (since + 1 == length && length > 1) shorter_is_enough = false;
          }
        }
        EXPECT_TRUE(length == 1 || !shorter_is_enough)
            << name(type) << ' ' << name(op) << ' ' << ranks;
      }
    }
  }
}

}  // namespace
}  // namespace ccl_tests::verify
