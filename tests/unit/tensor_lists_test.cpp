// Lists of tensors as models have them.
#include "src/options/values.hpp"

#include <gmock/gmock.h>

#include <numeric>

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

using testing::Each;
using testing::SizeIs;

std::size_t sum(const std::vector<std::size_t>& list) {
  return std::accumulate(list.begin(), list.end(), std::size_t{0});
}

TEST(TensorLists, ResNet50HasTorchvisionsParameters) {
  const auto list = parse_tensors("resnet50");
  EXPECT_THAT(list, SizeIs(161));
  EXPECT_EQ(sum(list), 25'557'032U);
  EXPECT_EQ(list.front(), 9408U);  // 64 x 3 x 7 x 7
  EXPECT_EQ(list.back(), 1000U);
}

TEST(TensorLists, LlamaBlockHasNineTensors) {
  const auto list = parse_tensors("llama-block");
  EXPECT_THAT(list, SizeIs(9));
  EXPECT_EQ(sum(list), 202'383'360U);
}

TEST(TensorLists, UniformTensorsAreEqual) {
  EXPECT_THAT(scaled(parse_tensors("uniform:7"), 700), Each(100));
  EXPECT_THAT(scaled(parse_tensors("uniform:3"), 2), Each(0));
}

TEST(TensorLists, AModelsSizeGivesTheModel) {
  for (const char* name : {"resnet50", "llama-block"}) {
    const auto list = parse_tensors(name);
    EXPECT_EQ(scaled(list, sum(list)), list);
    EXPECT_LE(sum(scaled(list, 12'345)), 12'345U);
    const std::size_t huge = std::size_t{1} << 60;
    EXPECT_GT(sum(scaled(list, huge)), huge - list.size());
  }
}

TEST(TensorLists, OthersAreRefused) {
  for (const char* text :
       {"", "resnet", "uniform", "uniform:", "uniform:0", "uniform:x", "uniform:-1"})
    EXPECT_THROW(parse_tensors(text), UsageError) << text;
  EXPECT_THAT([] { parse_tensors("Resnet-50"); },
              testing::ThrowsMessage<UsageError>(testing::HasSubstr("did you mean 'resnet50'?")));
}

}  // namespace
}  // namespace ccl_tests
