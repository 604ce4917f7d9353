// --self-check passes every spec, and no spec that states something else than the textbook.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <functional>

#include "collectives/collectives.hpp"
#include "src/self_check.hpp"

namespace ccl_tests {
namespace {

using namespace collectives;
using Segments = std::vector<ExpectedBlock>;

class RightSpec : public testing::TestWithParam<const Collective*> {};

TEST_P(RightSpec, HasNoErrors) {
  const auto errors = find_spec_errors(*GetParam());
  EXPECT_TRUE(errors.empty()) << fmt::format("{}", fmt::join(errors, "\n"));
}

INSTANTIATE_TEST_SUITE_P(Specs, RightSpec,
                         testing::Values(&all_gather, &all_gatherv, &all_reduce, &alltoall,
                                         &alltoallv, &barrier, &broadcast, &gather, &gatherv,
                                         &hypercube, &pingpong, &reduce, &reduce_scatter,
                                         &reduce_scatterv, &scatter, &scatterv, &sendrecv,
                                         &all_gather_object, &all_reduce_dict, &all_reduce_params,
                                         &average_metrics, &broadcast_object, &broadcast_tensors,
                                         &check_tensors, &collect_results, &gather_object,
                                         &reduce_dict, &sync_buffer, &sync_grad, &sync_seed),
                         [](const auto& test) { return std::string(test.param->name); });

struct Wrong {
  const char* what;
  Collective spec;
};

std::ostream& operator<<(std::ostream& out, const Wrong& wrong) { return out << wrong.what; }

Collective with_segments(Collective spec, Segments (*expected)(const Shape&)) {
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

std::vector<Wrong> wrong_segments() {
  return {
      {"WrongNeighbour", with_segments(sendrecv,
                                       [](const Shape& s) {
                                         Segments segments = sendrecv.expected(s);
                                         segments[0].source_rank = next(s);
                                         return segments;
                                       })},
      {"PartnerOfAnotherPair", with_segments(*sendrecv.modes[0],
                                             [](const Shape& s) {
                                               Segments segments = sendrecv.modes[0]->expected(s);
                                               segments[0].source_rank = next(s);
                                               return segments;
                                             })},
      {"NeighboursMixedUp", with_segments(*sendrecv.modes[1],
                                          [](const Shape& s) {
                                            Segments segments = sendrecv.modes[1]->expected(s);
                                            std::swap(segments[0].source_rank,
                                                      segments[1].source_rank);
                                            return segments;
                                          })},
      {"HalvesMixedUp", with_segments(*sendrecv.modes[1],
                                      [](const Shape& s) {
                                        Segments segments = sendrecv.modes[1]->expected(s);
                                        std::swap(segments[0].source_offset,
                                                  segments[1].source_offset);
                                        return segments;
                                      })},
      {"OwnMessages", with_segments(pingpong,
                                    [](const Shape& s) {
                                      Segments segments = pingpong.expected(s);
                                      segments[0].source_rank = s.self.rank;
                                      return segments;
                                    })},
      {"EveryMessageTheFirst", with_segments(pingpong,
                                             [](const Shape& s) {
                                               Segments segments;
                                               for (std::size_t m = 0; m < s.options.window; ++m)
                                                 segments.push_back(
                                                     {.recv_offset = m * s.count,
                                                      .count = s.count,
                                                      .source_rank = 1 - s.self.rank});
                                               return segments;
                                             })},
      {"OwnData", with_segments(broadcast,
                                [](const Shape& s) {
                                  Segments segments = broadcast.expected(s);
                                  segments[0].source_rank = s.self.rank;
                                  return segments;
                                })},
      {"SenderOfNothing", with_segments(scatter,
                                        [](const Shape& s) {
                                          Segments segments = scatter.expected(s);
                                          segments[0].source_rank = 0;
                                          return segments;
                                        })},
      {"WrongBlockOfTheSender", with_segments(alltoall,
                                              [](const Shape& s) {
                                                Segments segments = alltoall.expected(s);
                                                for (ExpectedBlock& x : segments)
                                                  x.source_offset = x.recv_offset;
                                                return segments;
                                              })},
      {"BlocksSwapped", with_segments(all_gather,
                                      [](const Shape& s) {
                                        Segments segments = all_gather.expected(s);
                                        std::swap(segments.front().source_rank,
                                                  segments.back().source_rank);
                                        return segments;
                                      })},
      {"OffByOne", with_segments(reduce_scatter,
                                 [](const Shape& s) {
                                   Segments segments = reduce_scatter.expected(s);
                                   if (segments[0].source_offset > 0) --segments[0].source_offset;
                                   return segments;
                                 })},
      {"NotReduced", with_segments(all_reduce,
                                   [](const Shape& s) {
                                     Segments segments = all_reduce.expected(s);
                                     segments[0].source_rank = s.self.rank;
                                     return segments;
                                   })},
      {"ReducedEverywhere",
       with_segments(
           reduce, [](const Shape& s) { return Segments{{.recv_offset = 0, .count = s.count}}; })},
      {"StatedTwice", with_segments(all_reduce,
                                    [](const Shape& s) {
                                      Segments segments = all_reduce.expected(s);
                                      segments.push_back(segments[0]);
                                      return segments;
                                    })},
      {"BeyondTheBuffer", with_segments(broadcast,
                                        [](const Shape& s) {
                                          Segments segments = broadcast.expected(s);
                                          ++segments[0].count;
                                          return segments;
                                        })},
      {"RankThatDoesNotExist", with_segments(gather,
                                             [](const Shape& s) {
                                               Segments segments = gather.expected(s);
                                               for (ExpectedBlock& x : segments) ++x.source_rank;
                                               return segments;
                                             })},
      {"NothingStated", with_segments(all_gather, [](const Shape&) { return Segments{}; })},
      {"HalfStated", with_segments(alltoall,
                                   [](const Shape& s) {
                                     Segments segments = alltoall.expected(s);
                                     segments.resize((segments.size() + 1) / 2);
                                     return segments;
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

INSTANTIATE_TEST_SUITE_P(Segments, WrongSpec, testing::ValuesIn(wrong_segments()),
                         [](const auto& test) { return std::string(test.param.what); });
INSTANTIATE_TEST_SUITE_P(Numbers, WrongSpec, testing::ValuesIn(wrong_numbers()),
                         [](const auto& test) { return std::string(test.param.what); });

}  // namespace
}  // namespace ccl_tests
