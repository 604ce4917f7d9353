#include "src/primitives/agreement.hpp"

#include <array>
#include <functional>

#include "tests/primitives/cases.hpp"

namespace ccl_tests::test {
namespace {

using primitives::Entry;
using primitives::Parameter;
using primitives::Tensor;
using testing::HasSubstr;
using testing::IsEmpty;

using Shape = std::array<std::size_t, 2>;
constexpr Shape two_by_three{2, 3}, three_by_two{3, 2};

Tensor tensor(std::size_t count, DataType type = DataType::float32) {
  return {nullptr, count, type};
}
Tensor tensor(const Shape& shape) { return {nullptr, 6, DataType::float32, shape}; }

// What every rank is told when the last of several ranks does as `other` and the rest as `usual`,
// less the operation; nothing when all do as `usual`.
template <class Check>
std::string disagreement(World& world, const Check& usual, const Check& other) {
  usual();
  EXPECT_THAT(world.wire.taken(), IsEmpty());
  const bool differs = world.rank() == world.ranks() - 1;
  const std::string text = error_everywhere(world, differs ? other : usual);
  const std::string who = fmt::format("the ranks do not agree: rank {}: ", world.ranks() - 1);
  const std::size_t at = text.find(who);
  EXPECT_NE(at, std::string::npos) << text;
  return at == std::string::npos ? text : text.substr(at + who.size());
}

void lists(World& world) {
  if (world.ranks() == 1) return primitives::check_list(world.group, 3, 0);
  using Check = std::function<void()>;
  const auto check = [&](std::size_t k, int src) {
    return Check([&world, k, src] { primitives::check_list(world.group, k, src); });
  };
  EXPECT_EQ(disagreement(world, check(3, 0), check(4, 0)),
            "the number of objects is 4, on rank 0 it is 3");
  EXPECT_EQ(disagreement(world, check(0, 0), check(0, 1)), "the source is 1, on rank 0 it is 0");
}

void dictionaries(World& world) {
  using Check = std::function<void()>;
  const auto check = [&](const std::vector<Entry>& dictionary) {
    return Check([&world, dictionary] { primitives::check_dictionary(world.group, dictionary); });
  };
  const std::vector<Entry> usual{{"loss", tensor(1)}, {"hits", tensor(two_by_three)}};
  check(world.rank() % 2 == 0 ? usual : std::vector<Entry>{usual[1], usual[0]})();
  check({})();
  if (world.ranks() == 1) return;
  const auto other = [&](const std::vector<Entry>& dictionary) {
    return disagreement(world, check(usual), check(dictionary));
  };
  EXPECT_EQ(other({usual[0]}), "key 'hits' is missing, on rank 0 it is float[2, 3]");
  EXPECT_EQ(other({}), "key 'hits' is missing, on rank 0 it is float[2, 3]");
  EXPECT_EQ(other({usual[0], usual[1], {"time", tensor(2)}}),
            "key 'time' is float[2], on rank 0 it is missing");
  EXPECT_EQ(other({usual[1], {"Loss", tensor(1)}}),
            "key 'loss' is missing, on rank 0 it is float[1]");
  EXPECT_EQ(other({usual[1], {"loss", tensor(2)}}),
            "key 'loss' is float[2], on rank 0 it is float[1]");
  EXPECT_EQ(other({usual[0], {"hits", tensor(three_by_two)}}),
            "key 'hits' is float[3, 2], on rank 0 it is float[2, 3]");
  EXPECT_EQ(other({usual[1], {"loss", tensor(1, DataType::float64)}}),
            "key 'loss' is double[1], on rank 0 it is float[1]");
  EXPECT_EQ(other({usual[0], usual[1], usual[1]}),
            "key 'hits', again, is float[2, 3], on rank 0 it is missing");
}

void metrics(World& world) {
  const std::map<std::string, double> usual{{"loss", world.rank()}};  // values may differ
  primitives::check_metrics(world.group, usual);
  if (world.ranks() == 1) return;
  using Check = std::function<void()>;
  EXPECT_EQ(
      disagreement(world, Check([&] { primitives::check_metrics(world.group, usual); }), Check([&] {
                     primitives::check_metrics(world.group, {{"loss", 0}, {"new", 1}});
                   })),
      "'new' is there, on rank 0 it is missing");
}

void tensors(World& world) {
  using Check = std::function<void()>;
  const auto check = [&](const std::vector<Tensor>& list) {
    return Check([&world, list] { primitives::check_tensors(world.group, list); });
  };
  const std::vector<Tensor> usual{tensor(0), tensor(two_by_three), tensor(5)};
  check({})();
  if (world.ranks() == 1) return check(usual)();
  const auto other = [&](const std::vector<Tensor>& list) {
    return disagreement(world, check(usual), check(list));
  };
  EXPECT_EQ(other({}), "the number of tensors is 0, on rank 0 it is 3");
  EXPECT_EQ(other({tensor(0), tensor(two_by_three)}),
            "the number of tensors is 2, on rank 0 it is 3");
  EXPECT_EQ(other({tensor(0), tensor(three_by_two), tensor(5)}),
            "tensor 1 is float[3, 2], on rank 0 it is float[2, 3]");
  EXPECT_EQ(other({tensor(0), tensor(two_by_three), tensor(std::size_t{5} << 32)}),
            "tensor 2 is float[21474836480], on rank 0 it is float[5]");
}

void parameters(World& world) {
  using Check = std::function<void()>;
  const auto check = [&](const std::vector<Parameter>& list) {
    return Check([&world, list] { primitives::check_parameters(world.group, list); });
  };
  const std::vector<Parameter> usual{{tensor(7), tensor(7)}, {tensor(9), {}}};
  if (world.ranks() == 1) return check(usual)();
  EXPECT_EQ(disagreement(world, check(usual), check({{tensor(7), {}}, {tensor(9), {}}})),
            "the gradient of parameter 0 is not there, on rank 0 it is float[7]");
  EXPECT_EQ(disagreement(world, check(usual), check({usual[0], {tensor(9), tensor(9)}})),
            "the gradient of parameter 1 is float[9], on rank 0 it is not there");
  EXPECT_EQ(disagreement(world, check(usual), check({usual[0]})),
            "the number of parameters is 1, on rank 0 it is 2");
}

void operations(World& world) {
  if (world.ranks() == 1) return;
  EXPECT_THAT(error_of([&] {
                if (world.rank() == 1) return primitives::check_list(world.group, 3);
                primitives::check_tensors(world.group, {});
              }),
              HasSubstr("rank 1: the operation is check_list, on rank 0 it is check_tensors"));
}

void the_most_are_right(World& world) {
  if (world.ranks() == 1) return;
  const auto check = [&](std::size_t k) {
    return error_everywhere(world, [&] { primitives::check_list(world.group, k); });
  };
  EXPECT_THAT(check(world.rank() == 0 ? 1 : 2),
              testing::EndsWith("agree: rank 0: the number of objects is 1, on rank 1 it is 2"));
  const std::string all = check(static_cast<std::size_t>(world.rank()));
  EXPECT_THAT(all, HasSubstr("rank 1: the number of objects is 1, on rank 0 it is 0; rank 2: the "
                             "number of objects is 2, on rank 0 it is 0"));
}

}  // namespace

std::vector<Case> agreement_cases() {
  return {{"lists", lists},
          {"dictionaries", dictionaries},
          {"metrics", metrics},
          {"tensors", tensors},
          {"parameters", parameters},
          {"operations", operations},
          {"the most are right", the_most_are_right}};
}

}  // namespace ccl_tests::test
