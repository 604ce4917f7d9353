// How far wrong answers are from right ones, per type, operation and rank count: stated in distances.txt.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

#include "tests/golden/committed.hpp"
#include "tests/unit/arithmetic.hpp"
#include "verify/inputs.hpp"

namespace ccl_tests::verify {
namespace {

constexpr std::array distance_ranks = {2, 3, 4, 5, 6, 7, 8, 9, 17, 64, 200};
constexpr int few_ranks = 9;

template <class T>
T divided(T sum, int ranks) {
  if constexpr (is_float<T>) {
    return from_double<T>(to_double(sum) / ranks);
  } else if constexpr (std::is_signed_v<T>) {
    return static_cast<T>(static_cast<std::int64_t>(sum) / ranks);
  } else {
    return static_cast<T>(static_cast<std::uint64_t>(sum) / static_cast<std::uint64_t>(ranks));
  }
}

// Reduces as a library does that takes rank `other` `times` times.
template <class T>
T reduce(ReduceOp op, const std::vector<T>& inputs, int other = -1, int times = 1) {
  const int ranks = static_cast<int>(inputs.size());
  std::vector<T> terms;
  for (int rank = 0; rank < ranks; ++rank)
    for (int k = 0; k < (rank == other ? times : 1); ++k)
      terms.push_back(scaled(op, rank, inputs[static_cast<std::size_t>(rank)]));
  T result = terms.front();
  for (std::size_t i = 1; i < terms.size(); ++i) result = combine(op, result, terms[i]);
  return op == ReduceOp::avg ? divided(result, ranks) : result;
}

bool is_idempotent(ReduceOp op) {
  return op == ReduceOp::max || op == ReduceOp::min || op == ReduceOp::band || op == ReduceOp::bor;
}

// What a library may do instead.
struct Wrong {
  ReduceOp op;
  int other = -1, times = 1;
};

std::vector<Wrong> wrong_ways(DataType type, ReduceOp op, int ranks) {
  std::vector<Wrong> ways;
  for (const ReduceOp instead : ops_of(type))
    if (instead != op) ways.push_back({instead});
  const int step = ranks <= few_ranks ? 1 : ranks / 4;
  for (int rank = 0; rank < ranks; rank += step) {
    ways.push_back({op, rank, 0});
    if (!is_idempotent(op)) ways.push_back({op, rank, 2});
  }
  return ways;
}

struct Distances {
  std::size_t shown =
      0;  // of 1000 elements, rounded up: those in which the wrong way that shows least is told
  std::uint64_t closest = std::numeric_limits<std::uint64_t>::max();  // of all that differ
};

template <class T>
Distances distances(const Inputs& inputs) {
  const ReduceOp op = *inputs.op();
  const std::vector<Wrong> ways = wrong_ways(inputs.type(), op, inputs.ranks());
  std::vector<std::size_t> shown(ways.size(), 0);
  const std::size_t elements = inputs.ranks() <= few_ranks ? 1000 : sizeof(T) == 1 ? 4000 : 500;
  Distances result;
  for (std::size_t j = 0; j < elements; ++j) {
    std::vector<T> values;
    for (int rank = 0; rank < inputs.ranks(); ++rank)
      values.push_back(from_bits<T>(inputs.bits(rank, j)));
    const T right = from_bits<T>(inputs.reduced(j));
    for (std::size_t k = 0; k < ways.size(); ++k) {
      const T wrong = reduce(ways[k].op, values, ways[k].other, ways[k].times);
      const std::uint64_t apart = units_apart(wrong, right);
      if (apart > static_cast<std::uint64_t>(inputs.tolerance())) ++shown[k];
      if (apart > 0) result.closest = std::min(result.closest, apart);
    }
  }
  result.shown = (*std::min_element(shown.begin(), shown.end()) * 1000 + elements - 1) / elements;
  return result;
}

std::string cell(DataType type, ReduceOp op, int ranks, bool integers_wrap) {
  const Inputs inputs(type, op, ranks, 1, integers_wrap);
  if (!inputs.verifiable()) return "N/A";
  const Distances found =
      with_type(type, [&]<class T>() -> Distances { return distances<T>(inputs); });
  EXPECT_GT(found.shown, 0U) << name(type) << ' ' << name(op) << ' ' << ranks;
  const auto tolerance = static_cast<std::uint64_t>(inputs.tolerance());
  EXPECT_GT(found.closest, tolerance) << name(type) << ' ' << name(op) << ' ' << ranks;
  if (tolerance == 0) return std::to_string(found.shown);
  return fmt::format("{}:{}", found.shown,
                     found.closest > 9999 ? ">9999" : std::to_string(found.closest));
}

std::string distance_table() {
  std::string text =
      "# How far wrong answers are from right ones. Wrong: any other operation that the type has, one rank lost, one rank "
      "taken twice.\n"
      "# A cell: of 1000 elements, those in which the wrong answer that shows in fewest differs by more than the "
      "tolerance.\n"
      "# 27:13: where the tolerance is 2 units in the last place, also how close a wrong answer comes that differs at "
      "all. N/A: not verified. *: integers that may not overflow.\n";
  text += fmt::format("{:9} {:7}", "type", "op");
  for (const int ranks : distance_ranks) text += fmt::format(" {:>9}", ranks);
  const auto add_row = [&](DataType type, ReduceOp op, bool wrap) {
    text += fmt::format("\n{:9} {:7}", name(type), std::string(name(op)) + (wrap ? "" : "*"));
    for (const int ranks : distance_ranks)
      text += fmt::format(" {:>9}", cell(type, op, ranks, wrap));
  };
  for (const DataType type : all_types()) {
    for (const ReduceOp op : ops_of(type)) add_row(type, op, true);
    if (with_type(type, []<class T>() { return is_float<T>; })) continue;
    for (const ReduceOp op : {ReduceOp::sum, ReduceOp::prod, ReduceOp::avg, ReduceOp::mulsum})
      add_row(type, op, false);
  }
  return text + "\n";
}

TEST(Distances, AreWhatTheFileStates) {
  test::expect_committed(CCL_TEST_SOURCES "/distances.txt", distance_table());
}

}  // namespace
}  // namespace ccl_tests::verify
