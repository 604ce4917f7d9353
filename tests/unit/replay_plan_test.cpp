// How traces of several ranks become the calls of a job, and where they disagree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/file_flags.hpp"
#include "tools/replay/arguments.hpp"
#include "tools/replay/order.hpp"
#include "tools/replay/plan.hpp"
#include "tools/replay/replayer.hpp"
#include "tools/replay/report.hpp"

namespace ccl_tests::replay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

using enum OperationId;

FoundCall call(OperationId operation, std::size_t in, std::size_t out,
               std::optional<std::uint64_t> sequence = {}, const std::string& group = "0") {
  FoundCall found;
  found.operation = operation;
  found.type = {DataType::float32};
  found.in = in;
  found.out = out;
  found.group_name = group;
  found.sequence = sequence;
  return found;
}

FoundCall message(bool sends, int peer, std::size_t count) {
  FoundCall found = call(transfer, count, count);
  found.sends = sends;
  found.peer = peer;
  return found;
}

// The traces of a job of whose ranks each made these calls in group 0 of all.
std::vector<RankTrace> traces_of(const std::vector<std::vector<FoundCall>>& ranks) {
  std::vector<RankTrace> traces;
  std::vector<int> all(ranks.size());
  for (std::size_t r = 0; r < ranks.size(); ++r) all[r] = static_cast<int>(r);
  for (const auto& calls : ranks) {
    TraceBuilder builder("made", 1000);
    builder.describe({.name = "0", .members = all, .size = static_cast<int>(all.size())});
    for (const FoundCall& one : calls) builder.add(one);
    traces.push_back(builder.finish());
  }
  return traces;
}

// All ranks' plans of the first `ranks` traces.
struct Planned {
  JobGroups groups;
  std::vector<RankPlan> ranks;
  Agreement agreement;
};
Planned planned(const std::vector<RankTrace>& traces, std::size_t ranks, bool sampled = false) {
  Planned result;
  std::vector<std::vector<TracedGroup>> groups;
  for (std::size_t r = 0; r < ranks; ++r) groups.push_back(traces[r].groups);
  result.groups = job_groups(groups);
  std::vector<Streams> all;
  for (std::size_t r = 0; r < ranks; ++r) {
    result.ranks.push_back(plan(traces[r], result.groups, static_cast<int>(r)));
    all.push_back(streams(result.ranks.back()));
  }
  result.agreement = agree(all, result.groups.groups, sampled);
  for (RankPlan& one : result.ranks) apply(one, result.agreement);
  return result;
}
Planned planned(const std::vector<std::vector<FoundCall>>& ranks) {
  return planned(traces_of(ranks), ranks.size());
}

TEST(ReplayPlan, EqualTracesAgree) {
  const std::vector<FoundCall> calls = {call(all_reduce, 7, 7), call(all_gather, 5, 15),
                                        call(reduce_scatter, 33, 11)};
  const Planned p = planned({calls, calls, calls});
  EXPECT_EQ(p.agreement.disagreement, "");
  ASSERT_THAT(p.ranks[2].calls, SizeIs(3));
  EXPECT_EQ(p.ranks[2].calls[2].number, 2U);
  EXPECT_EQ(p.ranks[2].kinds[1].count, 5U);
  EXPECT_EQ(p.ranks[2].kinds[2].count, 11U);
  EXPECT_EQ(p.ranks[2].kinds[2].bytes(), 132U);
}

TEST(ReplayPlan, NamesTheRankThatMadeAnotherCall) {
  const std::vector<FoundCall> calls = {call(all_reduce, 7, 7, 41), call(all_reduce, 9, 9, 42)};
  std::vector<FoundCall> other = {call(all_reduce, 7, 7, 41), call(broadcast, 3, 3, 42)};
  EXPECT_EQ(
      planned({calls, calls, other}).agreement.disagreement,
      "the traces disagree: group '0' (ranks 0-2), sequence 42: rank 2 has broadcast of 3 float from root 0, "
      "rank 0 has all_reduce of 9 float sum");
  other.pop_back();
  EXPECT_EQ(planned({calls, other, calls}).agreement.disagreement,
            "the traces disagree: group '0' (ranks 0-2), sequence 42: rank 1 has no such call, "
            "rank 0 has all_reduce of 9 float sum");
  other.clear();
  EXPECT_THAT(planned({calls, calls, other}).agreement.disagreement,
              HasSubstr("sequence 41: rank 2 has no such call"));
}

TEST(ReplayPlan, ARecorderThatKeepsTheLastCallsLeavesTheFirstOut) {
  const std::vector<FoundCall> late = {call(all_reduce, 9, 9, 42), call(all_reduce, 8, 8, 43)};
  std::vector<FoundCall> early = late;
  early.insert(early.begin(), call(all_reduce, 7, 7, 41));
  const Planned p = planned({early, late, late});
  EXPECT_EQ(p.agreement.disagreement, "");
  EXPECT_THAT(p.ranks[0].calls, SizeIs(2));
  EXPECT_THAT(p.ranks[0].left_out,
              ElementsAre(testing::Pair(HasSubstr("before the first call"), 1)));
  EXPECT_THAT(p.ranks[0].dropped, IsEmpty());
}

TEST(ReplayPlan, RanksThatMakeTheirCallsInAnotherOrderDisagree) {
  const FoundCall first = call(all_reduce, 7, 7, 1), second = call(broadcast, 9, 9, 2);
  for (const bool sampled : {false, true}) {
    const auto disagreement = [sampled](const std::vector<std::vector<FoundCall>>& ranks) {
      return planned(traces_of(ranks), ranks.size(), sampled).agreement.disagreement;
    };
    EXPECT_EQ(
        disagreement({{first, second}, {second, first}}),
        "the traces disagree, nothing was replayed: group '0' (ranks 0-1): rank 1 has sequence 1 after 2, "
        "and not all ranks have that order");
    EXPECT_THAT(disagreement({{first, second}, {first, second, first}}),
                HasSubstr("rank 1 has sequence 1 after 2"));
    EXPECT_EQ(disagreement({{second, first}, {second, first}}), "");
  }
}

TEST(ReplayPlan, CallsWithoutANumberFollowTheOneBefore) {
  const std::vector<FoundCall> calls = {call(all_reduce, 7, 7, 57), call(barrier, 0, 0),
                                        call(all_reduce, 7, 7, 58)};
  EXPECT_EQ(planned({calls, calls}).agreement.disagreement, "");
  EXPECT_THAT(planned({calls, {calls[0], calls[2]}}).agreement.disagreement,
              HasSubstr("sequence 58"));
}

TEST(ReplayPlan, SamplesMayHaveHoles) {
  const auto traces = traces_of({{call(all_reduce, 9, 9, 1), call(all_reduce, 9, 9, 3)},
                                 {call(all_reduce, 9, 9, 1), call(all_reduce, 9, 9, 2)}});
  const Planned p = planned(traces, 2, true);
  EXPECT_EQ(p.agreement.disagreement, "");
  EXPECT_THAT(p.ranks[1].calls, SizeIs(1));
  EXPECT_NE(planned(traces, 2).agreement.disagreement, "");
}

TEST(ReplayPlan, WhatOneRankCannotReplayIsLostOnAll) {
  FoundCall uneven = call(alltoall, 10, 10, 2);
  FoundCall even = call(alltoall, 9, 9, 2);
  const Planned p = planned({{call(all_reduce, 9, 9, 1), even, call(all_reduce, 9, 9, 3)},
                             {call(all_reduce, 9, 9, 1), uneven, call(all_reduce, 9, 9, 3)},
                             {call(all_reduce, 9, 9, 1), even, call(all_reduce, 9, 9, 3)}});
  EXPECT_EQ(p.agreement.disagreement, "");
  for (const RankPlan& rank : p.ranks) {
    EXPECT_THAT(rank.calls, SizeIs(2));
    EXPECT_THAT(rank.dropped, SizeIs(1));
  }
}

TEST(ReplayPlan, MessagesAreComparedByTheirTwoEnds) {
  EXPECT_EQ(planned({{message(true, 1, 5)}, {message(false, 0, 5)}, {}}).agreement.disagreement,
            "");
  EXPECT_THAT(planned({{message(true, 1, 5)}, {message(false, 0, 6)}, {}}).agreement.disagreement,
              HasSubstr("messages from rank 0 to rank 1, sequence 0"));
  EXPECT_THAT(planned({{message(true, 1, 5)}, {}, {}}).agreement.disagreement,
              HasSubstr("rank 1 has no such call"));
}

TEST(ReplayPlan, SplitsAreRowsAndHaveToFit) {
  FoundCall first = call(alltoall, 12, 8), second = call(alltoall, 8, 12);
  first.in_splits = {1, 2};
  first.out_splits = {1, 1};
  second.in_splits = {1, 1};
  second.out_splits = {2, 1};
  const Planned p = planned({{first}, {second}});
  EXPECT_EQ(p.agreement.disagreement, "");
  EXPECT_THAT(p.ranks[0].kinds[0].send_counts, ElementsAre(4, 8));
  EXPECT_THAT(p.ranks[0].kinds[0].send_offsets, ElementsAre(0, 4));
  second.out_splits = {1, 2};
  EXPECT_THAT(planned({{first}, {second}}).agreement.disagreement,
              HasSubstr("part of alltoallv from rank 0 to rank 1"));
}

TEST(ReplayPlan, FewerRanksKeepWhatARankContributes) {
  FoundCall rooted = call(broadcast, 6, 6);
  rooted.root = 2;
  std::vector<FoundCall> calls = {call(all_gather, 5, 15), rooted, call(reduce_scatter, 33, 11)};
  std::vector<std::vector<FoundCall>> ranks = {calls, calls, calls};
  ranks[0].push_back(message(true, 2, 4));
  ranks[2].push_back(message(false, 0, 4));
  const Planned p = planned(traces_of(ranks), 2);
  EXPECT_EQ(p.agreement.disagreement, "");
  EXPECT_EQ(p.groups.traced_ranks, 3);
  const RankPlan& rank = p.ranks[0];
  ASSERT_THAT(rank.calls, SizeIs(3));
  EXPECT_EQ(rank.kinds[0].count, 5U);
  EXPECT_EQ(rank.kinds[0].bytes(), 40U);
  EXPECT_EQ(rank.kinds[1].root, 0);
  EXPECT_EQ(rank.kinds[2].count, 11U);
  EXPECT_THAT(rank.dropped, ElementsAre(testing::Pair(HasSubstr("--ranks"), 1)));
}

TEST(ReplayPlan, MembersThatNoTraceListsAreThoseThatHaveTheName) {
  const JobGroups groups =
      job_groups({{{.name = "0x7", .size = 2, .rank = 1}, {.name = "all", .about = "dp"}},
                  {{.name = "all"}},
                  {{.name = "0x7", .size = 2, .rank = 0}, {.name = "all"}}});
  ASSERT_THAT(groups.groups, SizeIs(2));
  EXPECT_THAT(groups.groups[0].members, ElementsAre(2, 0));
  EXPECT_THAT(groups.groups[1].members, ElementsAre(0, 1, 2));
  EXPECT_EQ(groups.groups[1].text(), "group 'all' dp (ranks 0-2)");
}

TEST(ReplayPlan, GroupsThatCannotBeAreNotReplayed) {
  const JobGroups twice =
      job_groups({{{.name = "7", .size = 2, .rank = 1}}, {{.name = "7", .size = 2, .rank = 1}}});
  EXPECT_THAT(twice.groups[0].unusable, HasSubstr("two traces say that they are rank 1"));
}

TEST(ReplayPlan, MembersThatRanksListOtherwiseAreADisagreement) {
  const std::vector<TracedGroup> one = {{.name = "0", .members = {0, 1}}};
  for (const std::vector<int>& members : {std::vector{1, 0}, std::vector{0, 1, 2}}) {
    try {
      job_groups({one, {{.name = "0", .members = members}}});
      ADD_FAILURE() << "nothing was thrown";
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Exit::inconclusive);
      EXPECT_THAT(std::string(e.what()), HasSubstr("group '0' of rank 0 is ranks 0-1, of rank 1"));
    }
  }
  // Two groups of one name are of two jobs, or of halves of one.
  EXPECT_THAT(job_groups({one, one, {{.name = "0", .members = {2}}}}).groups, SizeIs(2));
}

TEST(ReplayPlan, ResultsBeyondEveryMemoryAreDropped) {
  FoundCall call;
  call.operation = OperationId::all_gather;
  call.in = most_bytes;
  call.group_name = "0";
  const Planned p = planned({{call}, {call}});
  EXPECT_THAT(p.ranks[0].dropped, ElementsAre(testing::Pair("buffers of 1 TiB or more", 1)));
}

TEST(ReplayPlan, LongGapsAreShortened) {
  RankPlan plan;
  for (const double start_s : {1e9, 1e9 + 5, 1e15, 1e15 + 2, 1e9, 1e9 + 40})
    plan.calls.push_back({.start_s = start_s});
  RankPlan same = plan;
  same.calls.resize(2);
  EXPECT_FALSE(shorten_gaps(same, 30));
  EXPECT_EQ(same.calls[1].start_s, 1e9 + 5);
  EXPECT_TRUE(shorten_gaps(plan, 30));
  EXPECT_EQ(plan.calls[1].start_s, 1e9 + 5);
  EXPECT_EQ(plan.calls[2].start_s, 1e9 + 35);
  EXPECT_EQ(plan.calls[3].start_s, 1e9 + 37);
  EXPECT_LT(plan.calls[4].start_s, 0);
  EXPECT_EQ(plan.calls[5].start_s - plan.calls[4].start_s, 30);
}

TEST(ReplayPlan, BlocksOfCallsAreThoseOfTheTextbook) {
  PlannedKind kind{.operation = alltoall, .self = {1, 3, 0}, .type = DataType::float32, .count = 4};
  const auto blocks = expected_blocks(kind);
  ASSERT_THAT(blocks, SizeIs(3));
  EXPECT_EQ(blocks[2].recv_offset, 8U);
  EXPECT_EQ(blocks[2].source_rank, 2);
  EXPECT_EQ(blocks[2].source_offset, 4U);
  kind.operation = gather;
  EXPECT_THAT(expected_blocks(kind), IsEmpty());
  kind.root = 1;
  EXPECT_THAT(expected_blocks(kind), SizeIs(3));
}

// The traces of ranks of a job with groups of these names and members.
std::vector<RankTrace> traces_of(const std::map<std::string, std::vector<int>>& groups,
                                 const std::vector<std::vector<FoundCall>>& ranks) {
  std::vector<RankTrace> traces;
  for (const auto& calls : ranks) {
    TraceBuilder builder("made", 1000);
    for (const auto& [name, members] : groups)
      builder.describe(
          {.name = name, .members = members, .size = static_cast<int>(members.size())});
    for (const FoundCall& one : calls) builder.add(one);
    traces.push_back(builder.finish());
  }
  return traces;
}

// Returns cycle() of the ranks' calls.
std::string waits(const Planned& p, bool buffered = true) {
  EXPECT_EQ(p.agreement.disagreement, "");
  return cycle(p.ranks, p.groups.groups, buffered);
}

TEST(ReplayOrder, FindsCallsThatWaitForEachOther) {
  const FoundCall sum = call(all_reduce, 7, 7);
  EXPECT_EQ(
      waits(planned({{message(false, 1, 5), sum, message(true, 1, 5)},
                     {message(false, 0, 5), sum, message(true, 0, 5)},
                     {sum}})),
      "rank 0 waits for rank 1 in its call 1, recv of 5 float, group '0' (ranks 0-2), group "
      "rank 1; rank 1 waits for rank 0 in its call 1, recv of 5 float, group '0' (ranks 0-2), "
      "group rank 0");
  EXPECT_THAT(waits(planned({{message(false, 0, 5), sum, message(true, 0, 5)}})),
              HasSubstr("rank 0 waits for rank 0"));
  const auto in = [](const char* group, OperationId operation = all_reduce) {
    return call(operation, operation == barrier ? 0 : 7, operation == barrier ? 0 : 7, {}, group);
  };
  const auto three = [&](const std::vector<std::vector<FoundCall>>& ranks) {
    return waits(planned(traces_of({{"A", {0, 1}}, {"B", {1, 2}}, {"C", {2, 0}}}, ranks), 3));
  };
  EXPECT_EQ(three({{in("A"), in("C")}, {in("A"), in("B")}, {in("B"), in("C")}}), "");
  const std::string around = three({{in("A"), in("C")}, {in("B"), in("A")}, {in("C"), in("B")}});
  EXPECT_THAT(around, HasSubstr("rank 0 waits for rank 1 in its call 1, all_reduce of 7 float, "
                                "group 'A' (ranks 0-1); rank 1 waits for rank 2 "));
  EXPECT_THAT(around, HasSubstr("rank 2 waits for rank 0 in its call 1"));
  const auto two = [&](const std::vector<FoundCall>& one, const std::vector<FoundCall>& other) {
    return waits(planned(traces_of({{"A", {0, 1}}, {"B", {1, 0}}}, {one, other}), 2));
  };
  EXPECT_NE(two({in("A"), in("B")}, {in("B"), in("A")}), "");
  EXPECT_NE(two({in("A", barrier), in("B")}, {in("B"), in("A", barrier)}), "");
  EXPECT_EQ(two({in("A"), in("B")}, {in("A"), in("B")}), "");
}

// A library may buffer a message, and leave a root or a rank that receives nothing alone.
TEST(ReplayOrder, IsNotSureOfWhatALibraryMayBuffer) {
  const FoundCall sum = call(all_reduce, 7, 7), none = call(all_reduce, 0, 0);
  const auto only_if_it_waits = [](const std::vector<std::vector<FoundCall>>& ranks) {
    return waits(planned(ranks)).empty() && !waits(planned(ranks), false).empty();
  };
  EXPECT_TRUE(only_if_it_waits({{message(true, 1, 5), sum, message(false, 1, 5)},
                                {message(true, 0, 5), sum, message(false, 0, 5)}}));
  EXPECT_TRUE(only_if_it_waits({{message(true, 0, 5), sum, message(false, 0, 5)}}));
  FoundCall from_0 = call(broadcast, 7, 7), to_1 = call(reduce, 7, 7);
  to_1.root = 1;
  EXPECT_TRUE(only_if_it_waits({{from_0, message(true, 1, 5)}, {message(false, 0, 5), from_0}}));
  EXPECT_TRUE(only_if_it_waits({{to_1, message(true, 1, 5)}, {message(false, 0, 5), to_1}}));
  EXPECT_TRUE(only_if_it_waits({{none, message(true, 1, 5)}, {message(false, 0, 5), none}}));
  EXPECT_NE(waits(planned({{sum, message(true, 1, 5)}, {message(false, 0, 5), sum}})), "");
}

TEST(ReplayOrder, MessagesThatFollowEachOtherWaitTogether) {
  const std::vector<FoundCall> one = {message(false, 1, 5), message(true, 1, 5)},
                               other = {message(false, 0, 5), message(true, 0, 5)};
  EXPECT_EQ(waits(planned({one, other}), false), "");
  EXPECT_EQ(waits(planned({{message(false, 0, 5), message(true, 0, 5)}}), false), "");
  // A ring of 40 ranks, each of which receives before it sends, but for one; and a chain backwards.
  std::vector<std::vector<FoundCall>> ring(40);
  for (int r = 0; r < 40; ++r)
    for (int turn = 0; turn < 5; ++turn) {
      const FoundCall sent = message(true, (r + 1) % 40, 5), got = message(false, (r + 39) % 40, 5);
      const FoundCall sum = call(all_reduce, 7, 7);
      for (const FoundCall& next : {r == 7 ? sent : got, sum, r == 7 ? got : sent})
        if (next.operation == transfer || turn == 4)
          ring[static_cast<std::size_t>(r)].push_back(next);
    }
  EXPECT_THAT(waits(planned(ring)), HasSubstr("waits for rank"));
  for (auto& calls : ring)
    std::erase_if(calls, [](const FoundCall& c) { return c.operation != transfer; });
  EXPECT_EQ(waits(planned(ring), false), "");
}

TEST(ReplayReport, TellsWhatIsWrongAndWhatIsDropped) {
  Outcome o;
  o.verified = 6;
  o.rows[{all_reduce, 3, 28, DataType::float32, ReduceOp::sum}] = {2, 168, 6, 6, 12e-6, 24e-6};
  EXPECT_EQ(exit_code_of(o), 0);
  EXPECT_THAT(text_of(o, false), HasSubstr("# OK: 6 of 6 results of ranks verified"));
  o.timed = 12;
  EXPECT_THAT(text_of(outcome_of(to_text(o)), false), HasSubstr("# OK: 6 of 18 results of ranks"));
  EXPECT_THAT(text_of(o, false),
              testing::ContainsRegex("all_reduce +3 +2 +28 +float +sum +2.00 +4.00 +2\n"));
  o.dropped["unknown type 'QInt8'"] = 2;
  EXPECT_EQ(exit_code_of(o), 8);
  EXPECT_THAT(text_of(o, false), HasSubstr("# dropped: 2 x unknown type 'QInt8'"));
  EXPECT_THAT(text_of(outcome_of(to_text(o)), false), HasSubstr("# INCOMPLETE:"));
  o.wrong = 1;
  o.first_wrong = "rank 2: all_reduce";
  EXPECT_EQ(exit_code_of(o), 7);
  EXPECT_THAT(text_of(o, false),
              HasSubstr("# WRONG: 1 of 6 results (exit 7)\n# rank 2: all_reduce"));
}

TEST(ReplayArguments, SayWhatBecomesOfFiles) { ccl_tests::test::expect_uses_of_files<Arguments>(); }

}  // namespace
}  // namespace ccl_tests::replay
