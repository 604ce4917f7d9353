#include <algorithm>
#include <array>
#include <cstdint>

#include "src/primitives/dictionaries.hpp"
#include "tests/primitives/cases.hpp"

namespace ccl_tests::test {
namespace {

using primitives::Entry;
using primitives::tensor_of;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Three tensors of a rank; every rank lists them in an order of its own.
struct Model {
  explicit Model(int rank) {
    const auto r = static_cast<float>(rank);
    for (std::size_t i = 0; i < weight.size(); ++i) weight[i] = r + static_cast<float>(i);
    bias = {10 * r, -r};
    entries = {{"weight", tensor_of(weight)}, {"bias", tensor_of(bias)}, {"nothing", {}}};
    std::rotate(entries.begin(), entries.begin() + rank % 3, entries.end());
  }
  std::array<float, 5> weight{};
  std::array<float, 2> bias{};
  std::vector<Entry> entries;
};

float sum_of_ranks(int ranks) { return static_cast<float>(ranks * (ranks - 1) / 2); }

void expect_reduced(const Model& model, int ranks, float divisor) {
  const float sum = sum_of_ranks(ranks);
  const auto n = static_cast<float>(ranks);
  for (std::size_t i = 0; i < model.weight.size(); ++i)
    EXPECT_FLOAT_EQ(model.weight[i], (sum + n * static_cast<float>(i)) / divisor);
  EXPECT_FLOAT_EQ(model.bias[0], 10 * sum / divisor);
  EXPECT_FLOAT_EQ(model.bias[1], -sum / divisor);
}

void all_reduce_dict(World& world) {
  Model model(world.rank());
  primitives::all_reduce_dict(world.group, model.entries);
  expect_reduced(model, world.ranks(), 1);
  EXPECT_THAT(world.wire.taken(), ElementsAre("all_reduce float[7] sum"));

  Model averaged(world.rank());
  primitives::all_reduce_dict(world.group, averaged.entries, ReduceOp::avg);
  expect_reduced(averaged, world.ranks(), static_cast<float>(world.ranks()));
  EXPECT_THAT(world.wire.taken(), ElementsAre("all_reduce float[7] avg"));
}

void reduce_dict(World& world) {
  for (const bool average : {false, true}) {
    Model model(world.rank());
    const Model before = model;
    primitives::reduce_dict(world.group, model.entries, average);
    if (world.rank() == 0) {
      expect_reduced(model, world.ranks(), average ? static_cast<float>(world.ranks()) : 1);
    } else {
      EXPECT_EQ(model.weight, before.weight);
      EXPECT_EQ(model.bias, before.bias);
    }
    EXPECT_THAT(world.wire.taken(),
                ElementsAre(average ? "reduce float[7] avg to 0" : "reduce float[7] sum to 0"));
  }
}

// The sum over the ranks is -7: -7 / 3 is -2 and -7 / 4 is -1, where floor would give -3 and -2.
void averages_of_integers_truncate(World& world) {
  std::array<std::int32_t, 2> values{world.rank() == 0 ? -7 : 0, world.rank() == 0 ? 7 : 0};
  const std::vector<Entry> entries{{"values", tensor_of(values)}};
  primitives::all_reduce_dict(world.group, entries, ReduceOp::avg);
  const int expected = 7 / world.ranks();
  EXPECT_THAT(values, ElementsAre(-expected, expected));

  values = {world.rank() == 0 ? -7 : 0, world.rank() == 0 ? 7 : 0};
  primitives::reduce_dict(world.group, entries);
  if (world.rank() == 0) {
    EXPECT_THAT(values, ElementsAre(-expected, expected));
  }
}

void empty_dictionaries_move_nothing(World& world) {
  primitives::all_reduce_dict(world.group, {});
  primitives::reduce_dict(world.group, {});
  EXPECT_THAT(world.wire.taken(), IsEmpty());
  const std::vector<Entry> nothing{{"nothing", {}}};
  primitives::all_reduce_dict(world.group, nothing);
  EXPECT_THAT(world.wire.taken(), ElementsAre("all_reduce float[0] sum"));
}

void dictionaries_that_are_refused(World& world) {
  std::array<float, 1> loss{};
  std::array<std::int64_t, 1> hits{};
  const std::vector<Entry> mixed{{"loss", tensor_of(loss)}, {"hits", tensor_of(hits)}};
  EXPECT_THAT(error_of([&] { primitives::all_reduce_dict(world.group, mixed); }),
              AllOf(HasSubstr("all_reduce_dict"), HasSubstr("'loss' is float"),
                    HasSubstr("'hits' is int64")));
  const std::vector<Entry> twice{{"loss", tensor_of(loss)}, {"loss", tensor_of(loss)}};
  EXPECT_THAT(error_of([&] { primitives::reduce_dict(world.group, twice); }),
              HasSubstr("reduce_dict: key 'loss' comes twice"));
  EXPECT_THAT(world.wire.taken(), IsEmpty());
}

// Rank r has weight r + 1 and the number r: the mean is sum r (r + 1) / sum (r + 1).
void average_metrics(World& world) {
  const double rank = world.rank();
  std::map<std::string, double> metrics{{"rank", rank}, {"same", 0.25}, {"minus", -rank}};
  primitives::average_metrics(world.group, metrics, rank + 1);
  double sum = 0, weights = 0;
  for (int r = 0; r < world.ranks(); ++r) {
    sum += r * (r + 1);
    weights += r + 1;
  }
  EXPECT_FLOAT_EQ(static_cast<float>(metrics["rank"]), static_cast<float>(sum / weights));
  EXPECT_FLOAT_EQ(static_cast<float>(metrics["minus"]), static_cast<float>(-sum / weights));
  EXPECT_EQ(metrics["same"], 0.25);
  EXPECT_THAT(world.wire.taken(), ElementsAre("all_reduce float[4] sum"));

  std::map<std::string, double> none;
  primitives::average_metrics(world.group, none);
  EXPECT_THAT(world.wire.taken(), ElementsAre("all_reduce float[1] sum"));
}

void metrics_without_weight(World& world) {
  std::map<std::string, double> metrics{{"loss", 1}};
  EXPECT_THAT(error_of([&] { primitives::average_metrics(world.group, metrics, 0); }),
              HasSubstr("weights sum to 0"));
  EXPECT_EQ(metrics["loss"], 1);
  // Ranks without samples beside one that has some.
  metrics["loss"] = world.rank() == 0 ? 3 : 1e6;
  primitives::average_metrics(world.group, metrics, world.rank() == 0 ? 10 : 0);
  EXPECT_EQ(metrics["loss"], 3);
}

}  // namespace

std::vector<Case> dictionary_cases() {
  return {{"all_reduce_dict", all_reduce_dict},
          {"reduce_dict", reduce_dict},
          {"averages of integers truncate", averages_of_integers_truncate},
          {"empty dictionaries move nothing", empty_dictionaries_move_nothing},
          {"dictionaries that are refused", dictionaries_that_are_refused},
          {"average_metrics", average_metrics},
          {"metrics without weight", metrics_without_weight}};
}

}  // namespace ccl_tests::test
