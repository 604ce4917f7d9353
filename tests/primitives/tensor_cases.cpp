#include <cstdint>
#include <limits>

#include "src/primitives/tensors.hpp"
#include "tests/primitives/cases.hpp"

namespace ccl_tests::test {
namespace {

using primitives::BufferSync;
using primitives::Parameter;
using primitives::Tensor;
using primitives::tensor_of;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A rank's tensors of three types: float[3], int32[2], float[5], double[4], float[0].
struct Tensors {
  explicit Tensors(int rank)
      : a(3, static_cast<float>(rank)),
        b(5, static_cast<float>(2 * rank)),
        integers(2, rank == 0 ? -7 : 0),
        c(4, rank + 0.5) {}
  std::vector<float> a, b, none;
  std::vector<std::int32_t> integers;
  std::vector<double> c;
  std::vector<Tensor> list{tensor_of(a), tensor_of(integers), tensor_of(b), tensor_of(c),
                           tensor_of(none)};
};

int sum_of_ranks(const World& world) { return world.ranks() * (world.ranks() - 1) / 2; }

void expect_averages(World& world, const Tensors& tensors, int integer) {
  const float mean = static_cast<float>(sum_of_ranks(world)) / static_cast<float>(world.ranks());
  EXPECT_THAT(tensors.a, Each(testing::FloatEq(mean)));
  EXPECT_THAT(tensors.b, Each(testing::FloatEq(2 * mean)));
  EXPECT_THAT(tensors.c, Each(testing::DoubleEq(0.5 + static_cast<double>(sum_of_ranks(world)) /
                                                          world.ranks())));
  EXPECT_THAT(tensors.integers, Each(integer));
}

struct Buckets {
  bool coalesce;
  std::int64_t bytes;
  Operations operations;
};

void all_reduce_params(World& world) {
  const std::vector<Buckets> buckets = {
      {false,
       -1,
       {"all_reduce float[3] avg", "all_reduce int32[2] avg", "all_reduce float[5] avg",
        "all_reduce double[4] avg", "all_reduce float[0] avg"}},
      {true,
       -1,
       {"all_reduce float[8] avg", "all_reduce int32[2] avg", "all_reduce double[4] avg"}},
      {true,
       31,
       {"all_reduce float[3] avg", "all_reduce float[5] avg", "all_reduce int32[2] avg",
        "all_reduce double[4] avg"}},
      {true,
       32,
       {"all_reduce float[8] avg", "all_reduce int32[2] avg", "all_reduce double[4] avg"}},
  };
  for (const auto& [coalesce, bytes, operations] : buckets) {
    SCOPED_TRACE(bytes);
    Tensors tensors(world.rank());
    primitives::all_reduce_params(world.group, tensors.list, coalesce, bytes, ReduceOp::avg);
    expect_averages(world, tensors, -7 / world.ranks());
    EXPECT_EQ(world.wire.taken(), operations);
  }
  Tensors tensors(world.rank());
  primitives::all_reduce_params(world.group, tensors.list);
  EXPECT_THAT(tensors.a, Each(static_cast<float>(sum_of_ranks(world))));
  EXPECT_THAT(tensors.integers, Each(-7));
}

// Counts of the buckets' tensors; those of int8 are told from float ones by a minus.
std::vector<std::vector<int>> taken(const std::vector<int>& counts, std::size_t limit_bytes) {
  std::vector<Tensor> tensors;
  for (const int count : counts) {
    tensors.push_back({nullptr, static_cast<std::size_t>(std::abs(count)),
                       count < 0 ? DataType::int8 : DataType::float32});
  }
  std::vector<Tensor> room(tensors.size());
  std::vector<std::vector<int>> buckets;
  primitives::take_tensors(tensors, limit_bytes, room, [&](std::span<const Tensor> bucket) {
    std::vector<int>& in = buckets.emplace_back();
    for (const Tensor& t : bucket)
      in.push_back(t.type == DataType::int8 ? -static_cast<int>(t.count)
                                            : static_cast<int>(t.count));
  });
  return buckets;
}

void buckets_are_those_of_torch(World& /*world*/) {
  using Expected = std::vector<std::vector<int>>;
  EXPECT_EQ(taken({}, 40), Expected{});
  EXPECT_EQ(taken({1, 2, 3}, 1000), (Expected{{1, 2, 3}}));
  EXPECT_EQ(taken({5, 5, 5}, 40), (Expected{{5, 5}, {5}}));              // exactly full
  EXPECT_EQ(taken({1, 100, 1, 1}, 40), (Expected{{1}, {100}, {1, 1}}));  // too long for any
  EXPECT_EQ(taken({100, 100}, 40), (Expected{{100}, {100}}));
  EXPECT_EQ(taken({0, 100, 0}, 40),
            (Expected{{0, 100}, {0}}));  // a bucket without bytes is not full
  EXPECT_EQ(taken({6, -30, 6, -30, 1}, 40), (Expected{{6}, {-30}, {6, 1}, {-30}}));
  constexpr int largest = std::numeric_limits<int>::max();  // 8 GiB - 4 B of float
  EXPECT_EQ(taken({largest, largest, 1, 1}, (std::size_t{16} << 30) - 8),
            (Expected{{largest, largest}, {1, 1}}));
  EXPECT_EQ(taken({largest, largest, 1, 1}, (std::size_t{16} << 30) - 4),
            (Expected{{largest, largest, 1}, {1}}));
  EXPECT_EQ(taken({-1, 6, -1, 6}, 40), (Expected{{6}, {-1, -1}, {6}}));  // left: int8 came first
}

void broadcast_tensors(World& world) {
  for (int src = 0; src < world.ranks(); ++src) {
    Tensors tensors(world.rank());
    const Tensors source(src);
    const Tensors before(world.rank());
    primitives::broadcast_tensors(world.group, tensors.list, src);
    EXPECT_EQ(tensors.a, source.a);
    EXPECT_EQ(tensors.b, source.b);
    EXPECT_EQ(tensors.c, source.c);
    EXPECT_EQ(tensors.integers, before.integers);
    EXPECT_EQ(world.wire.most_in_flight(), 4);
    const std::string from = fmt::format(" from {}", src);
    EXPECT_THAT(world.wire.taken(),
                ElementsAre("start broadcast float[3]" + from, "start broadcast float[5]" + from,
                            "start broadcast double[4]" + from, "start broadcast float[0]" + from));
  }
}

void sync_buffer(World& world) {
  Tensors averaged(world.rank());
  primitives::sync_buffer(world.group, averaged.list);
  expect_averages(world, averaged, world.rank() == 0 ? -7 : 0);
  EXPECT_EQ(world.wire.most_in_flight(), 4);
  EXPECT_THAT(world.wire.taken(),
              ElementsAre("start all_reduce float[3] avg", "start all_reduce float[5] avg",
                          "start all_reduce double[4] avg", "start all_reduce float[0] avg"));
  Tensors replaced(world.rank());
  primitives::sync_buffer(world.group, replaced.list, BufferSync::broadcast);
  EXPECT_THAT(replaced.c, Each(0.5));
  EXPECT_THAT(world.wire.taken(),
              ElementsAre("start broadcast float[3] from 0", "start broadcast float[5] from 0",
                          "start broadcast double[4] from 0", "start broadcast float[0] from 0"));
}

void sync_grad(World& world) {
  Tensors values(world.rank());
  Tensors gradients(world.rank());
  const std::vector<Parameter> parameters = {{tensor_of(values.a), tensor_of(gradients.a)},
                                             {tensor_of(values.b), {}},
                                             {tensor_of(values.c), tensor_of(gradients.c)}};
  primitives::sync_grad(world.group, parameters);
  const float mean = static_cast<float>(sum_of_ranks(world)) / static_cast<float>(world.ranks());
  EXPECT_THAT(gradients.a, Each(testing::FloatEq(mean)));
  EXPECT_EQ(gradients.b, Tensors(world.rank()).b);
  EXPECT_EQ(values.a, Tensors(world.rank()).a);
  EXPECT_EQ(world.wire.most_in_flight(), 2);
  EXPECT_THAT(world.wire.taken(),
              ElementsAre("start all_reduce float[3] avg", "start all_reduce double[4] avg"));
}

void check_number_of_tensors(World& world) {
  for (const std::size_t count : {0U, 1U, 300U}) {
    primitives::check_number_of_tensors(world.group, count);
    EXPECT_THAT(world.wire.taken(), ElementsAre("all_reduce int64[1] sum"));
  }
  if (world.ranks() == 1) return;
  // The last: the middle rank of three has the average of all.
  const auto rank = static_cast<std::size_t>(world.rank());
  for (const std::size_t count : {std::size_t{world.rank() == 0}, rank, 7 - rank}) {
    EXPECT_THAT(
        error_everywhere(world, [&] { primitives::check_number_of_tensors(world.group, count); }),
        HasSubstr("the number of tensors is"));
  }
}

void empty_lists_move_nothing(World& world) {
  primitives::all_reduce_params(world.group, {});
  primitives::all_reduce_params(world.group, {}, false);
  primitives::broadcast_tensors(world.group, {});
  primitives::sync_buffer(world.group, {});
  primitives::sync_grad(world.group, {});
  const std::vector<Parameter> without_gradient(3);
  primitives::sync_grad(world.group, without_gradient);
  EXPECT_THAT(world.wire.taken(), IsEmpty());
}

void types_are_known(World& /*world*/) {
  EXPECT_EQ(primitives::type_of<std::int8_t>(), DataType::int8);
  EXPECT_EQ(primitives::type_of<float>(), DataType::float32);
  EXPECT_EQ(primitives::type_of<Float8E5M2>(), DataType::f8e5m2);
  EXPECT_TRUE((Tensor{nullptr, 0, DataType::bfloat16}.is_floating()));
  EXPECT_FALSE((Tensor{nullptr, 0, DataType::uint64}.is_floating()));
}

}  // namespace

std::vector<Case> tensor_cases() {
  return {{"all_reduce_params", all_reduce_params},
          {"buckets are those of torch", buckets_are_those_of_torch},
          {"broadcast_tensors", broadcast_tensors},
          {"sync_buffer", sync_buffer},
          {"sync_grad", sync_grad},
          {"check_number_of_tensors", check_number_of_tensors},
          {"empty lists move nothing", empty_lists_move_nothing},
          {"types are known", types_are_known}};
}

}  // namespace ccl_tests::test
