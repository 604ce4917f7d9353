// Every spec states what the textbook does, and a spec that states something else is found.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <functional>

#include "collectives/collectives.hpp"
#include "tests/unit/spec_errors.hpp"

namespace ccl_tests {
namespace {

using namespace collectives;
using Blocks = std::vector<ExpectedBlock>;

class RightSpec : public testing::TestWithParam<const Collective*> {};

TEST_P(RightSpec, HasNoErrors) {
  const auto errors = find_spec_errors(*GetParam());
  EXPECT_TRUE(errors.empty()) << fmt::format("{}", fmt::join(errors, "\n"));
}

INSTANTIATE_TEST_SUITE_P(Specs, RightSpec, testing::ValuesIn(collectives::all()),
                         [](const auto& test) { return std::string(test.param->name); });

struct Wrong {
  const char* what;
  Collective spec;
};

std::ostream& operator<<(std::ostream& out, const Wrong& wrong) { return out << wrong.what; }

Collective with_blocks(Collective spec, Blocks (*expected)(const Shape&)) {
  spec.expected = expected;
  return spec;
}

Collective with_factor(Collective spec, double (*factor)(const Shape&)) {
  spec.bus_factor = factor;
  return spec;
}

Collective with_layout(Collective spec, Layout (*layout)(const Shape&)) {
  spec.layout = layout;
  return spec;
}

int next(const Shape& s) { return (s.self.rank + 1) % s.self.ranks; }

std::vector<Wrong> wrong_blocks() {
  return {
      {"WrongNeighbour", with_blocks(sendrecv,
                                     [](const Shape& s) {
                                       Blocks blocks = sendrecv.expected(s);
                                       blocks[0].source_rank = next(s);
                                       return blocks;
                                     })},
      {"PartnerOfAnotherPair", with_blocks(*sendrecv.modes[0],
                                           [](const Shape& s) {
                                             Blocks blocks = sendrecv.modes[0]->expected(s);
                                             blocks[0].source_rank = next(s);
                                             return blocks;
                                           })},
      {"NeighboursMixedUp", with_blocks(*sendrecv.modes[1],
                                        [](const Shape& s) {
                                          Blocks blocks = sendrecv.modes[1]->expected(s);
                                          std::swap(blocks[0].source_rank, blocks[1].source_rank);
                                          return blocks;
                                        })},
      {"HalvesMixedUp", with_blocks(*sendrecv.modes[1],
                                    [](const Shape& s) {
                                      Blocks blocks = sendrecv.modes[1]->expected(s);
                                      std::swap(blocks[0].source_offset, blocks[1].source_offset);
                                      return blocks;
                                    })},
      {"OwnMessages", with_blocks(pingpong,
                                  [](const Shape& s) {
                                    Blocks blocks = pingpong.expected(s);
                                    blocks[0].source_rank = s.self.rank;
                                    return blocks;
                                  })},
      {"EveryMessageTheFirst", with_blocks(pingpong,
                                           [](const Shape& s) {
                                             Blocks blocks;
                                             for (std::size_t m = 0; m < s.options.window; ++m)
                                               blocks.push_back({.recv_offset = m * s.count,
                                                                 .count = s.count,
                                                                 .source_rank = 1 - s.self.rank});
                                             return blocks;
                                           })},
      {"OwnData", with_blocks(broadcast,
                              [](const Shape& s) {
                                Blocks blocks = broadcast.expected(s);
                                blocks[0].source_rank = s.self.rank;
                                return blocks;
                              })},
      {"SenderOfNothing", with_blocks(scatter,
                                      [](const Shape& s) {
                                        Blocks blocks = scatter.expected(s);
                                        blocks[0].source_rank = 0;
                                        return blocks;
                                      })},
      {"WrongBlockOfTheSender", with_blocks(alltoall,
                                            [](const Shape& s) {
                                              Blocks blocks = alltoall.expected(s);
                                              for (ExpectedBlock& x : blocks)
                                                x.source_offset = x.recv_offset;
                                              return blocks;
                                            })},
      {"BlocksSwapped", with_blocks(all_gather,
                                    [](const Shape& s) {
                                      Blocks blocks = all_gather.expected(s);
                                      std::swap(blocks.front().source_rank,
                                                blocks.back().source_rank);
                                      return blocks;
                                    })},
      {"OffByOne", with_blocks(reduce_scatter,
                               [](const Shape& s) {
                                 Blocks blocks = reduce_scatter.expected(s);
                                 if (blocks[0].source_offset > 0) --blocks[0].source_offset;
                                 return blocks;
                               })},
      {"NotReduced", with_blocks(all_reduce,
                                 [](const Shape& s) {
                                   Blocks blocks = all_reduce.expected(s);
                                   blocks[0].source_rank = s.self.rank;
                                   return blocks;
                                 })},
      {"ReducedEverywhere",
       with_blocks(reduce,
                   [](const Shape& s) { return Blocks{{.recv_offset = 0, .count = s.count}}; })},
      {"StatedTwice", with_blocks(all_reduce,
                                  [](const Shape& s) {
                                    Blocks blocks = all_reduce.expected(s);
                                    blocks.push_back(blocks[0]);
                                    return blocks;
                                  })},
      {"BeyondTheBuffer", with_blocks(broadcast,
                                      [](const Shape& s) {
                                        Blocks blocks = broadcast.expected(s);
                                        ++blocks[0].count;
                                        return blocks;
                                      })},
      {"RankThatDoesNotExist", with_blocks(gather,
                                           [](const Shape& s) {
                                             Blocks blocks = gather.expected(s);
                                             for (ExpectedBlock& x : blocks) ++x.source_rank;
                                             return blocks;
                                           })},
      {"NothingStated", with_blocks(all_gather, [](const Shape&) { return Blocks{}; })},
      {"HalfStated", with_blocks(alltoall,
                                 [](const Shape& s) {
                                   Blocks blocks = alltoall.expected(s);
                                   blocks.resize((blocks.size() + 1) / 2);
                                   return blocks;
                                 })},
  };
}

std::vector<Wrong> wrong_numbers() {
  const auto one = [](const Shape&) { return 1.0; };
  const auto share = [](const Shape& s) { return all_gather.bus_factor(s); };
  return {
      {"FactorOfReduceForAllReduce", with_factor(all_reduce, one)},
      {"HalfTheFactor", with_factor(all_reduce, share)},
      {"WholeForGather", with_factor(gather, one)},
      {"WholeForAlltoall", with_factor(alltoall, one)},
      {"ShareForBroadcast", with_factor(broadcast, share)},
      {"ShareForSendrecv", with_factor(sendrecv, share)},
      {"ShareForExchange", with_factor(*sendrecv.modes[0], share)},
      {"TwiceForAsync", with_factor(*sendrecv.modes[1], [](const Shape&) { return 2.0; })},
      {"ShareForHypercube", with_factor(hypercube, share)},
      {"WireOfOneBlock", with_layout(all_gather,
                                     [](const Shape& s) {
                                       Layout layout = all_gather.layout(s);
                                       layout.algbw_bytes = layout.send * s.type_bytes;
                                       return layout;
                                     })},
      {"ReceivesLessThanItGets", with_layout(scatter,
                                             [](const Shape& s) {
                                               Layout layout = scatter.layout(s);
                                               layout.recv -= layout.recv > 0 ? 1 : 0;
                                               return layout;
                                             })},
      {"BytesOfOneMessage", with_layout(pingpong,
                                        [](const Shape& s) {
                                          Layout layout = pingpong.layout(s);
                                          layout.algbw_bytes /= layout.messages;
                                          return layout;
                                        })},
      {"FewerMessagesThanTheWindow", with_layout(pingpong,
                                                 [](const Shape& s) {
                                                   Layout layout = pingpong.layout(s);
                                                   layout.messages = 1;
                                                   return layout;
                                                 })},
      {"LargestBufferOnTheSecondRank", with_layout(all_reduce,
                                                   [](const Shape& s) {
                                                     Layout layout = all_reduce.layout(s);
                                                     layout.send += s.self.rank == 1 ? 1 : 0;
                                                     return layout;
                                                   })},
      {"InPlaceAtTheWrongBlock", with_layout(all_gather,
                                             [](const Shape& s) {
                                               Layout layout = all_gather.layout(s);
                                               layout.in_place->send =
                                                   layout.count * static_cast<std::size_t>(next(s));
                                               return layout;
                                             })},
  };
}

std::vector<Wrong> wrong_needs() {
  Collective silent = sync_seed;
  silent.needs.step_times = false;
  Collective of_nothing = sendrecv;
  of_nothing.needs.operations = {};
  return {{"StepTimesThatNobodyReads", silent}, {"OperationsThatNobodyStates", of_nothing}};
}

class WrongSpec : public testing::TestWithParam<Wrong> {};

TEST_P(WrongSpec, IsFound) { EXPECT_FALSE(find_spec_errors(GetParam().spec).empty()); }

TEST(SpecErrors, OfAnotherModeNameIt) {
  const Collective broken = with_factor(*sendrecv.modes[0], [](const Shape&) { return 2.0; });
  const Collective* const forms[] = {&broken};
  Collective program = sendrecv;
  program.modes = forms;
  const auto errors = find_spec_errors(program);
  ASSERT_FALSE(errors.empty());
  EXPECT_EQ(errors[0].rfind("--mode exchange: ", 0), 0U) << errors[0];
}

INSTANTIATE_TEST_SUITE_P(Blocks, WrongSpec, testing::ValuesIn(wrong_blocks()),
                         [](const auto& test) { return std::string(test.param.what); });
INSTANTIATE_TEST_SUITE_P(Needs, WrongSpec, testing::ValuesIn(wrong_needs()),
                         [](const auto& test) { return std::string(test.param.what); });
INSTANTIATE_TEST_SUITE_P(Numbers, WrongSpec, testing::ValuesIn(wrong_numbers()),
                         [](const auto& test) { return std::string(test.param.what); });

}  // namespace
}  // namespace ccl_tests
