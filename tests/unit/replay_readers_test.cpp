// What ccl_replay reads of each format, also of files that are cut off or no traces.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <fstream>
#include <iterator>

#include "src/core/error.hpp"
#include "tests/unit/temporary_folder.hpp"
#include "tools/replay/arguments.hpp"
#include "tools/replay/trace.hpp"

namespace ccl_tests::replay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::size_t many = 1000;

class ReplayReaders : public testing::Test {
 protected:
  RankTrace read(const std::string& text, std::size_t most_calls = many) {
    return read_trace({folder_.write("trace", text)}, most_calls);
  }
  std::string error(const std::string& text) {
    try {
      read(text);
    } catch (const Error& e) {
      EXPECT_EQ(e.code(), Exit::failed);
      EXPECT_THAT(std::string(e.what()), testing::Not(HasSubstr("\n")));
      return e.what();
    }
    return "nothing was thrown";
  }
  TemporaryFolder folder_;
};

// An entry of a flight recorder.
std::string entry(const std::string& name, int sequence, const std::string& in,
                  const std::string& out, const std::string& more = {}) {
  return fmt::format(
      R"({{"profiling_name": "{}", "collective_seq_id": {}, "input_sizes": {}, "output_sizes": {}, )"
      R"("input_dtypes": ["Float"], "output_dtypes": ["Float"], "process_group": ["1", "tp"]{}}})",
      name, sequence, in, out, more);
}

TEST_F(ReplayReaders, FlightRecorderWithGroupsBehindItsEntries) {
  const RankTrace t = read(fmt::format(
      R"({{"version": "2.5", "entries": [{}, {}, {}, {}], "pg_status": {{"1": {{"last": [1, {{}}]}}}},
          "pg_config": {{"1": {{"name": "1", "desc": "tp", "ranks": "[2, 5, 7]"}}}}}})",
      entry("nccl:all_reduce", 8, "[[3, 5], [2]]", "[[3, 5], [2]]",
            R"(, "time_created_ns": 1500000000)"),
      entry("nccl:_all_gather_base", 9, "[[7]]", "[[21]]", R"(, "duration_ms": 0.5)"),
      entry("nccl:coalesced", 9, "[]", "[]"), entry("nccl:send 0->2", 9, "[[11]]", "[]")));
  EXPECT_EQ(t.format, "flight recorder");
  ASSERT_THAT(t.calls, SizeIs(3));
  ASSERT_THAT(t.groups, SizeIs(1));
  EXPECT_THAT(t.groups[0].members, ElementsAre(2, 5, 7));
  EXPECT_EQ(t.kinds[0].operation, OperationId::all_reduce);
  EXPECT_EQ(t.kinds[0].in, 17U);
  EXPECT_EQ(t.kinds[0].type.type, DataType::float32);
  EXPECT_EQ(t.calls[0].sequence, 8U);
  EXPECT_DOUBLE_EQ(t.calls[0].start_s, 1.5);
  EXPECT_EQ(t.kinds[1].operation, OperationId::all_gather);
  EXPECT_EQ(t.kinds[1].out, 21U);
  EXPECT_FLOAT_EQ(t.calls[1].duration_s, 0.0005F);
  EXPECT_TRUE(t.kinds[2].sends);
  EXPECT_EQ(t.kinds[2].peer, 2);
  EXPECT_EQ(t.calls[2].sequence, not_numbered);
  EXPECT_THAT(t.marks, ElementsAre(testing::Pair("nccl:coalesced", 1)));
  EXPECT_THAT(t.dropped, IsEmpty());
}

TEST_F(ReplayReaders, GroupsWithoutASizeHaveThatOfTheirCalls) {
  const RankTrace t =
      read(fmt::format(R"({{"entries": [{}, {}]}})", entry("gloo:all_reduce", 1, "[[7]]", "[[7]]"),
                       entry("gloo:all_gather", 2, "[[7]]", "[[3, 7]]")));
  EXPECT_EQ(t.groups[0].size, 3);
  EXPECT_EQ(t.groups[0].about, "tp");
}

TEST_F(ReplayReaders, OlderFlightRecorderIsAList) {
  const RankTrace t = read(
      R"([{"profiling_name": "nccl:all_reduce", "seq_id": 3, "pg_id": 0, "input_sizes": [[4]], "output_sizes": [[4]]}])");
  ASSERT_THAT(t.calls, SizeIs(1));
  EXPECT_EQ(t.calls[0].sequence, 3U);
  EXPECT_EQ(t.groups[0].name, "0");
  EXPECT_THAT(t.groups[0].members, IsEmpty());
  EXPECT_THAT(t.assumed, testing::Contains(HasSubstr("float")));
}

TEST_F(ReplayReaders, UnknownCallsAndTypesAreDroppedByReason) {
  const RankTrace t = read(fmt::format(
      R"({{"entries": [{}, {}, 7, {{"profiling_name": 3}}]}})",
      entry("nccl:all_reduce_sparse", 1, "[[4]]", "[[4]]"),
      R"({"profiling_name": "nccl:broadcast", "input_sizes": [[4]], "output_dtypes": ["QInt8"]})"));
  EXPECT_THAT(t.calls, IsEmpty());
  EXPECT_THAT(t.dropped, ElementsAre(testing::Pair(HasSubstr("''"), 1),
                                     testing::Pair(HasSubstr("all_reduce_sparse"), 1),
                                     testing::Pair("unknown type 'QInt8'", 1)));
}

const std::string init_node =
    R"x({"id": 3, "name": "## process_group:init ##", "inputs": {"values": ["[{\"pg_name\": \"0\", \"pg_desc\": \"default_pg\", \"ranks\": [], \"group_size\": 3}]"]}})x";

TEST_F(ReplayReaders, ExecutionTraceOfALibraryOnGpus) {
  const RankTrace t = read(fmt::format(
      R"({{"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": [{}, {{"name": "aten::add", "inputs": {{"values": [[1, 2]]}}}}, {}, {}, {}]}})",
      init_node,
      R"x({"name": "record_param_comms", "inputs": {"values": [[[1, 2, 0, 12, 4, "cuda:0"]], 57, ["0", "default_pg"], 1, "broadcast", [], [], 0, 1, 3], "types": ["GenericList[Tensor(float)]"]}, "outputs": {"values": [[[1, 2, 0, 12, 4, "cuda:0"]]]}})x",
      R"({"name": "record_param_comms", "attrs": [{"name": "collective_name", "value": "all_to_allv"}, {"name": "dtype", "value": "Long"}, {"name": "in_msg_nelems", "value": 12}, {"name": "out_msg_nelems", "value": 8}, {"name": "in_split_size", "value": "[1,2,3]"}, {"name": "out_split_size", "value": "[4,0,0]"}, {"name": "pg_name", "value": "0"}], "inputs": {"values": [[[1, 2, 0, 12, 8, "cuda:0"]], 58, ["0", ""], 0, "all_to_allv", [1, 2, 3], [4, 0, 0], 0, 1, 3]}})",
      R"({"name": "record_param_comms", "inputs": {"values": [57, ["0", ""], 0, "wait", [], [], 0, 1, 3]}})"));
  EXPECT_EQ(t.format, "execution trace");
  EXPECT_EQ(t.records, 5U);
  ASSERT_THAT(t.calls, SizeIs(2));
  EXPECT_EQ(t.kinds[0].operation, OperationId::broadcast);
  EXPECT_EQ(t.kinds[0].root, 1);
  EXPECT_EQ(t.kinds[0].in, 12U);
  EXPECT_EQ(t.calls[0].sequence, 57U);
  EXPECT_EQ(t.kinds[1].type.type, DataType::int64);
  EXPECT_THAT(t.kinds[1].in_splits, ElementsAre(1, 2, 3));
  EXPECT_THAT(t.kinds[1].out_splits, ElementsAre(4, 0, 0));
  EXPECT_THAT(t.groups[0].members, ElementsAre(0, 1, 2));
}

TEST_F(ReplayReaders, SplitsThatAreCutOffAreNotEqualBlocks) {
  const RankTrace t = read(
      R"({"nodes": [{"name": "record_param_comms", "attrs": [{"name": "collective_name", "value": "all_to_allv"}, {"name": "dtype", "value": "Int"}, {"name": "in_msg_nelems", "value": 90}, {"name": "out_msg_nelems", "value": 90}, {"name": "in_split_size", "value": "[1, 2, ..., 5]"}, {"name": "out_split_size", "value": "[]"}, {"name": "pg_name", "value": "0"}]}]})");
  ASSERT_THAT(t.kinds, SizeIs(1));
  EXPECT_THAT(t.kinds[0].in_splits, ElementsAre(0));
  EXPECT_THAT(t.kinds[0].out_splits, IsEmpty());
}

TEST_F(ReplayReaders, ExecutionTraceBeforeItsGroupsHadNames) {
  const auto node = [](const char* name, const char* group, const char* splits) {
    return fmt::format(
        R"x({{"name": "record_param_comms", "inputs": [[[7, 8, 0, 12, 4, "cuda:0"]], 147, {}, 3, "{}", {}, []], )x"
        R"x("input_types": ["GenericList[Tensor(int)]", "Int", "Int", "Int", "String"], "outputs": [[9, 8, 0, 12, 4, "cuda:0"]]}})x",
        group, name, splits);
  };
  const std::string calls = node("all_to_allv", "94398426290464", "[4, 4, 4]") + ", " +
                            node("allreduce", "94398426290464", "[]") + ", " +
                            node("wait", "0", "[]");
  const RankTrace t = read(R"({"schema": "1.0.1", "nodes": [)" + calls + "]}");
  ASSERT_THAT(t.calls, SizeIs(2));
  EXPECT_EQ(t.kinds[0].type.type, DataType::int32);
  EXPECT_EQ(t.kinds[0].out, 12U);
  EXPECT_EQ(t.calls[0].sequence, 147U);
  EXPECT_EQ(t.groups[0].size, 3);
  EXPECT_THAT(t.assumed, testing::Contains(HasSubstr("its address, no name")));
  const RankTrace two = read(R"({"nodes": [)" + calls + ", " + node("barrier", "7", "[]") + "]}");
  EXPECT_THAT(two.dropped, ElementsAre(testing::Pair(HasSubstr("several"), 3)));
}

TEST_F(ReplayReaders, ExecutionTraceOfOperatorsAlone) {
  const std::string gather_node =
      R"x({"name": "c10d::_allgather_base_", "inputs": {"values": [[1, 1, 0, 21, 4, "cpu"], [2, 2, 0, 7, 4, "cpu"], "<Object>", false, -1], "types": ["Tensor(float)", "Tensor(float)", "Object"]}})x";
  const std::string send_node =
      R"x({"name": "c10d::send", "inputs": {"values": [[[2, 2, 0, 7, 2, "cpu"]], "<Object>", 2, 0], "types": ["GenericList[Tensor(c10::BFloat16)]"]}})x";
  const RankTrace one =
      read(fmt::format(R"({{"nodes": [{}, {}, {}]}})", init_node, gather_node, send_node));
  ASSERT_THAT(one.calls, SizeIs(2));
  EXPECT_EQ(one.kinds[0].in, 7U);
  EXPECT_EQ(one.kinds[0].out, 21U);
  EXPECT_EQ(one.kinds[1].peer, 2);
  EXPECT_EQ(one.kinds[1].type.type, DataType::bfloat16);
  // Operators do not say which of several groups is meant.
  const std::string two_groups =
      R"x({"name": "## process_group:init ##", "inputs": {"values": ["[{\"pg_name\": \"0\", \"ranks\": [], \"group_size\": 3}, {\"pg_name\": \"1\", \"ranks\": [0, 1], \"group_size\": 2}]"]}})x";
  const RankTrace two = read(fmt::format(R"({{"nodes": [{}, {}]}})", two_groups, gather_node));
  EXPECT_THAT(two.calls, IsEmpty());
  EXPECT_THAT(two.dropped, ElementsAre(testing::Pair(HasSubstr("several"), 1)));
}

std::string inspected(const std::string& coll, const std::string& number,
                      const std::string& bytes) {
  return fmt::format(
      R"({{"header": {{"id": "0x9e", "rank": 2, "n_ranks": 4, "nnodes": 1}}, "metadata": {{"inspector_output_format_version": "v4.0"}}, )"
      R"("coll_perf": {{"coll": "{}", "coll_sn": {}, "coll_msg_size_bytes": {}, "coll_exec_time_us": 110}}}})",
      coll, number, bytes);
}

TEST_F(ReplayReaders, InspectorsSizeIsThatOfABlock) {
  const RankTrace t = read(inspected("ReduceScatter", "129", "65536") + "\n" +
                           inspected("AllGather", "130", "7") + "\n");
  ASSERT_THAT(t.calls, SizeIs(2));
  EXPECT_TRUE(t.sampled);
  EXPECT_EQ(t.kinds[0].out, 16384U);
  EXPECT_EQ(t.kinds[0].in, 4 * 16384U);
  EXPECT_EQ(t.kinds[1].in, 7U);
  EXPECT_EQ(t.kinds[1].type.type, DataType::uint8);
  EXPECT_EQ(t.groups[0].rank, 2);
  EXPECT_EQ(t.groups[0].size, 4);
  EXPECT_FLOAT_EQ(t.calls[0].duration_s, 110e-6F);
  EXPECT_THAT(error(inspected("AllGather", "1", "7") + "\n" +
                    inspected("AllGather", "2", "7").substr(0, 90)),
              HasSubstr("line 2 is cut off"));
}

constexpr const char* nccl_init =
    "a:12:12 [0] NCCL INFO ncclCommInitRank comm 0x55 rank 1 nranks 3 cudaDev 0 nvmlDev 0 busId 1000 commId 0x77 - Init COMPLETE\n";
constexpr const char* nccl_call =
    "a:12:19 [0] NCCL INFO AllReduce: opCount 1f sendbuff 0x7f recvbuff 0x7f count 18816 datatype 7 op 2 root 0 comm 0x55 [nranks=3] stream 0x5a\n";

TEST_F(ReplayReaders, LogOfNccl) {
  const RankTrace t = read(
      std::string("starting\n") + nccl_init + nccl_call +
      "a:12:19 [0] NCCL INFO Send: opCount 1f sendbuff (nil) recvbuff 0x7f count 5 datatype 0 op 0 root 2 comm 0x55 [nranks=3] stream 0x5a\n"
      "a:12:19 [0] NCCL INFO AllGather: opCount 20 sendbuff 0x7f recvbuff 0x7f count 9 datatype 9 op 0 root 0 comm 0x99 [nranks=2] stream 0x5a\n");
  ASSERT_THAT(t.calls, SizeIs(3));
  EXPECT_EQ(t.kinds[0].op, ReduceOp::max);
  EXPECT_EQ(t.kinds[0].type.type, DataType::float32);
  EXPECT_EQ(t.kinds[0].in, 18816U);
  EXPECT_EQ(t.groups[0].name, "0x77");
  EXPECT_EQ(t.groups[0].rank, 1);
  EXPECT_EQ(t.kinds[1].peer, 2);
  EXPECT_EQ(t.kinds[2].out, 18U);
  EXPECT_EQ(t.groups[1].name, "communicator 1 of 2 ranks");
  EXPECT_THAT(t.assumed, testing::Contains(HasSubstr("no INIT")));
  std::string other = nccl_call;
  other[2] = '9';
  EXPECT_THAT(
      error(std::string(nccl_call) + other),
      HasSubstr("line 2: it has lines of 2 processes, 'a:12 [0]' and 'a:92 [0]'; accepted"));
}

TEST_F(ReplayReaders, SizesThatNoCallHasAreRefused) {
  const auto sized = [](const std::string& sizes) {
    return fmt::format(R"({{"entries": [{}, {}]}})", entry("nccl:broadcast", 1, "[[4]]", "[[4]]"),
                       entry("nccl:broadcast", 2, sizes, "[[4]]"));
  };
  for (const char* sizes :
       {"[[18446744073709551615]]", "[[2305843009213693952]]", "[[4294967296, 4294967296]]",
        "[[274877906944]]", "[[274877906943], [18446744073709551615]]"})
    EXPECT_THAT(error(sized(sizes)),
                testing::AllOf(HasSubstr("cannot read "), HasSubstr("trace'"),
                               HasSubstr(": record 2 of entries: a call has buffers of less than")))
        << sizes;
  EXPECT_EQ(read(sized("[[274877906943]]")).kinds[1].in, 274877906943U);
  EXPECT_THAT(error(sized("[[-1]]")), HasSubstr("record 2 of entries: -1 is no number"));
  EXPECT_THAT(error(sized("[[18446744073709551616]]")), HasSubstr("is no number from 0"));
  EXPECT_THAT(error(inspected("Broadcast", "1", "-1")), HasSubstr("line 1: -1 is no number"));
  EXPECT_THAT(error(inspected("AllGather", "1", "274877906944")),
              HasSubstr("line 1: a call has buffers of less than 1 TiB"));
  const auto counted = [](const std::string& count) {
    std::string line = nccl_call;
    return nccl_init + line.replace(line.find("18816"), 5, count);
  };
  EXPECT_THAT(error(counted("18446744073709551615")), HasSubstr("line 2: a call has buffers"));
  EXPECT_THAT(error(counted("18446744073709551616")), HasSubstr("is no number from 0"));
  EXPECT_THAT(error(counted("-1")), HasSubstr("line 2: '-1' is no number from 0"));
}

TEST_F(ReplayReaders, NumbersOfCallsAreNotCutToAType) {
  EXPECT_EQ(read(inspected("Broadcast", "4294967297", "8")).calls[0].sequence, 4294967297U);
  EXPECT_THAT(error(inspected("Broadcast", "17592186044416", "8")), HasSubstr("2^44 or more"));
  EXPECT_THAT(error(inspected("Broadcast", "18446744073709551616", "8")),
              HasSubstr("line 1: 1.8446744073709552e+19 is no number"));
  EXPECT_THAT(error(inspected("Broadcast", "-1", "8")), HasSubstr("line 1: -1 is no number"));
}

TEST_F(ReplayReaders, RootsAndPeersAreNotCutToAType) {
  const auto from = [](const std::string& root) {
    return R"x({"nodes": [{"name": "record_param_comms", "inputs": {"values": [[[1, 2, 0, 12, 4, "cuda:0"]], 57, ["0", ""], )x" +
           root +
           R"x(, "broadcast", [], [], 0, 1, 3], "types": ["GenericList[Tensor(float)]"]}}]})x";
  };
  EXPECT_THAT(error(from("4294967297")),
              HasSubstr("record 1 of nodes: a job has at most 1048576 ranks, not 4294967297"));
  EXPECT_EQ(read(from("2")).kinds[0].root, 2);
  EXPECT_EQ(read(from("-1")).kinds[0].root, -1);
  EXPECT_THAT(
      error(
          R"x({"nodes": [{"name": "c10d::send", "inputs": {"values": [[[2, 2, 0, 7, 4, "cpu"]], "<Object>", 4294967297, 0], "types": ["GenericList[Tensor(float)]"]}}]})x"),
      HasSubstr("not 4294967297"));
}

TEST_F(ReplayReaders, GroupsThatNoJobHasAreRefused) {
  const auto recorder = [](const std::string& ranks) {
    return R"({"entries": [], "pg_config": {"0": {"name": "0", "ranks": ")" + ranks + "\"}}}";
  };
  EXPECT_THAT(error(recorder("[0, 0]")), HasSubstr("group '0' has a member twice"));
  EXPECT_THAT(error(recorder("[0, 1048577]")), HasSubstr("at most 1048576 ranks, not 1048577"));
  EXPECT_THAT(error(recorder("[0, -1]")), HasSubstr("-1 is no number"));
  const auto execution = [](const std::string& group) {
    return R"x({"nodes": [{"name": "## process_group:init ##", "inputs": {"values": ["[{\"pg_name\": \"0\", )x" +
           group + R"x(}]"]}}]})x";
  };
  EXPECT_THAT(error(execution(R"(\"ranks\": [1, 0, 1], \"group_size\": 3)")),
              HasSubstr("record 1 of nodes: group '0' has a member twice"));
  EXPECT_THAT(error(execution(R"(\"ranks\": [1, 0], \"group_size\": 3)")),
              HasSubstr("group '0' has 3 ranks and lists 2"));
  EXPECT_THAT(error(execution(R"(\"ranks\": [], \"group_size\": 0)")), HasSubstr("has 0 ranks"));
  const auto replaced = [](std::string text, const std::string& from, const std::string& to) {
    return text.replace(text.find(from), from.size(), to);
  };
  const std::string line = inspected("Broadcast", "1", "8");
  EXPECT_THAT(error(replaced(line, R"("n_ranks": 4)", R"("n_ranks": 0)")),
              HasSubstr("line 1: group '0x9e' has 0 ranks"));
  EXPECT_THAT(error(replaced(line, R"("n_ranks": 4)", R"("n_ranks": 2)")),
              HasSubstr("has 2 ranks, and this is rank 2 of it"));
  EXPECT_THAT(error(line + "\n" + replaced(line, R"("rank": 2)", R"("rank": 3)")),
              HasSubstr("line 2: it has calls of ranks 2 and 3 of group '0x9e'; accepted: one"));
  EXPECT_THAT(error(replaced(nccl_init, "nranks 3", "nranks 0")), HasSubstr("has 0 ranks"));
}

TEST_F(ReplayReaders, TimesThatNoCallHasAreRefused) {
  for (const char* duration : {"-5", "-1e308", "1e308", "1e300"}) {
    const std::string more = fmt::format(R"(, "duration_ms": {})", duration);
    EXPECT_THAT(
        error(fmt::format(R"({{"entries": [{}]}})", entry("nccl:barrier", 1, "[]", "[]", more))),
        HasSubstr("record 1 of entries: no call lasts "));
  }
  std::string line = inspected("Broadcast", "1", "8");
  EXPECT_THAT(error(line.replace(line.find("110"), 3, "-5")), HasSubstr("no call lasts -5e-06 s"));
  EXPECT_THAT(error(fmt::format(R"({{"entries": [{}]}})", entry("nccl:barrier", 1, "[]", "[]",
                                                                R"(, "time_created_ns": -1e300)"))),
              HasSubstr("no clock shows"));
}

TEST_F(ReplayReaders, SplitsThatNoCallHasAreRefused) {
  const auto split = [](const std::string& splits) {
    return R"x({"nodes": [{"name": "record_param_comms", "inputs": {"values": [[[1, 2, 0, 8, 1, "cuda:0"]], 57, ["0", ""], 0, "all_to_allv", )x" +
           splits + R"x(, [4, 4], 0, 1, 3], "types": ["GenericList[Tensor(byte)]"]}}]})x";
  };
  for (const char* splits :
       {"[6148914691236517208, 6148914691236517208, 6148914691236517208]",
        "[9223372036854775808, 9223372036854775816]", "[549755813888, 549755813888]"})
    EXPECT_THAT(error(split(splits)), HasSubstr("record 1 of nodes: a call has buffers of less"));
  EXPECT_THAT(read(split("[4, 4]")).kinds[0].in_splits, ElementsAre(4, 4));
  EXPECT_THAT(error(fmt::format(R"({{"entries": [{}]}})",
                                entry("nccl:broadcast", 1, R"([["many"]])", "[[4]]"))),
              HasSubstr("no lists of whole numbers"));
}

TEST_F(ReplayReaders, DeepRecordsAreRefused) {
  const auto deep = [](std::size_t levels) {
    return std::string(levels, '[') + std::string(levels, ']');
  };
  const auto node = [](const std::string& values) {
    return R"({"nodes": [{"name": "## process_group:init ##", "inputs": {"values": [)" + values +
           "]}}]}";
  };
  constexpr std::size_t far = 3'000'000;
  EXPECT_EQ(read(node(deep(900))).records, 1U);
  EXPECT_THAT(error(node(deep(far))), HasSubstr("has more than 1000 levels"));
  EXPECT_THAT(error(deep(far)), HasSubstr("has more than 1000 levels"));
  EXPECT_THAT(error(node('"' + deep(far) + '"')),
              HasSubstr("record 1 of nodes: it has more than 1000 levels"));
}

TEST_F(ReplayReaders, WaysOfPyTorchToLeaveNoJson) {
  const std::string one = R"({"name": "aten::mm"})";
  const auto nodes = [](const std::string& text) { return "{\"nodes\": [\n" + text + "\n]}\n"; };
  EXPECT_THAT(error(nodes(one + ",\n" + one + "\n" + one)),
              HasSubstr("line 4, column 1: a comma is missing; PyTorch"));
  EXPECT_THAT(error(nodes(one + ",")), HasSubstr("line 3, column 1: a comma has no record behind"));
  EXPECT_THAT(error(nodes(one) + nodes(one)),
              HasSubstr("line 4, column 1: a second one follows the document; PyTorch's observer"));
  EXPECT_THAT(error(nodes(one) + nodes(one)), HasSubstr("head -c 36"));
  EXPECT_THAT(error(nodes(one) + "}"), HasSubstr("text follows the document"));
  EXPECT_THAT(error(nodes(one + ",\n" + one).substr(0, 40)),
              HasSubstr("middle of a record: cut off? whole before it: 1 records; accepted"));
  EXPECT_THAT(error("[" + nodes(one) + "]"), HasSubstr("record 1: it is a whole trace"));
}

TEST_F(ReplayReaders, NumbersThatAreNoneAreReadWhereNoCallNeedsThem) {
  const auto with = [](const std::string& more, const std::string& size = "4") {
    return fmt::format(R"({{"entries": [{}]}})",
                       entry("nccl:broadcast", 1, "[[" + size + "]]", "[[4]]", more));
  };
  for (const char* number : {"nan", "-nan", "NaN", "inf", "-inf", "Infinity", "-Infinity"})
    EXPECT_THAT(read(with(fmt::format(R"(, "x\" nan": [{0}, {0}], "y": {0})", number))).calls,
                SizeIs(1));
  EXPECT_TRUE(std::isnan(read(with(R"(, "duration_ms": NaN)")).calls[0].duration_s));
  EXPECT_THAT(error(with(R"(, "duration_ms": Infinity)")), HasSubstr("no call lasts inf s"));
  EXPECT_THAT(error(with("", "nan")), HasSubstr("no lists of whole numbers"));
  EXPECT_THAT(error(with(R"(, "x": nano)")), HasSubstr("it is not JSON at byte"));
  // At the border of the pieces in which a file is read.
  const std::string text = with(R"(, "x": -Infinity)");
  for (std::size_t behind = 0; behind < 12; ++behind) {
    const std::size_t blanks = (1 << 16) - 64 - text.find("-Infinity") - behind;
    EXPECT_THAT(read(std::string(blanks, ' ') + text).calls, SizeIs(1)) << behind;
  }
}

TEST_F(ReplayReaders, TheFirstByteDoesNotTellTheFormat) {
  const std::string byte_order = "\xef\xbb\xbf";
  const std::string json =
      fmt::format(R"({{"entries": [{}]}})", entry("nccl:barrier", 1, "[]", "[]"));
  EXPECT_THAT(read(byte_order + json).calls, SizeIs(1));
  EXPECT_THAT(read(byte_order + nccl_call).calls, SizeIs(1));
  EXPECT_THAT(read(byte_order + inspected("AllGather", "1", "7")).calls, SizeIs(1));
  for (const char* empty : {"[]", R"({"entries": []})", R"({"entries": [ ], "pg_config": {}})"}) {
    EXPECT_EQ(read(empty).format, "flight recorder") << empty;
    EXPECT_THAT(read(empty).calls, IsEmpty()) << empty;
  }
  for (const char* prefix :
       {"[1,0]<stdout>:", "[1,0]<stdout>: ", "[2026-11-28 12:00:01] ", "2026-11-28T12:00:01.123 ",
        "12:00:01,123 ", "0: ", "[default0]:", "[0] ",
        "[prterun-a-1@1,0]<stdout>: ", "(RayTrainWorker pid=12, ip=10.0.0.1) ",
        "\x1b[36m(RayTrainWorker pid=12)\x1b[0m ", "\x1b[0;32m", "pod/worker-0 | "}) {
    const RankTrace t = read(prefix + std::string(nccl_init) + prefix + nccl_call);
    ASSERT_THAT(t.calls, SizeIs(1)) << prefix;
    EXPECT_EQ(t.groups[0].name, "0x77") << prefix;
  }
  std::string numbered = nccl_call;
  numbered.replace(numbered.find("AllReduce"), 0, "[2] ");
  numbered.insert(numbered.size() - 1, "\r");
  EXPECT_EQ(read(numbered).kinds[0].operation, OperationId::all_reduce);
}

TEST_F(ReplayReaders, ALogOfAllRanksIsSplit) {
  const auto lines = [](const std::string& process, int rank, int device) {
    return fmt::format(
        "{0} [{2}] NCCL INFO ncclCommInitRank comm 0x55 rank {1} nranks 4 cudaDev {2} commId 0x77 - Init COMPLETE\n"
        "2026-11-28 12:0{1}:01 {0} [{2}] NCCL INFO AllReduce: opCount 0 sendbuff 0x7f recvbuff 0x7f count 1{1} datatype 7 op 0 root 0 comm 0x55 [nranks=4] stream 0x5a\n",
        process, rank, device);
  };
  // Two hosts with processes of equal numbers; one process with two devices.
  const std::string path =
      folder_.write("log", "NCCL INFO\nx: " + lines("a:7:8", 1, 0) + lines("a:7:9", 3, 1) +
                               lines("b:7:8", 0, 0) + lines("b:9:9", 2, 0));
  const std::vector<TracePlace> traces = traces_in(path);
  ASSERT_THAT(traces, SizeIs(4));
  EXPECT_EQ(traces[1].process, "a:7 [1]");
  EXPECT_EQ(traces[1].world_rank, 3);
  for (const TracePlace& place : traces) {
    const RankTrace t = read_trace(place, many);
    ASSERT_THAT(t.calls, SizeIs(1));
    EXPECT_EQ(t.kinds[0].in, 10U + place.world_rank);
    EXPECT_EQ(t.groups[0].rank, place.world_rank);
  }
  Arguments arguments;
  arguments.trace = path;
  const std::vector<TracePlace> sorted = trace_places(arguments);
  for (std::size_t k = 0; k < sorted.size(); ++k)
    EXPECT_EQ(sorted[k].world_rank, static_cast<int>(k));
  EXPECT_THAT(error(lines("a:7:8", 0, 0) + lines("a:7:9", 1, 1)), HasSubstr("2 processes"));
  // The codes of colours do not belong to a host's name.
  EXPECT_THAT(
      traces_in(folder_.write("log", lines("a:7:8", 1, 0) + "\x1b[32m" + lines("a:7:8", 1, 0))),
      SizeIs(1));
  // One process over two minutes is one.
  EXPECT_THAT(traces_in(folder_.write("log", lines("a:7:8", 1, 0) + lines("a:7:9", 2, 0))),
              SizeIs(1));
}

TEST_F(ReplayReaders, LinesOfALogThatAreLostAreSaid) {
  std::string torn = nccl_call;
  torn.replace(torn.find(" comm"), torn.size(), nccl_call);
  EXPECT_THAT(read(torn).dropped, ElementsAre(testing::Pair(HasSubstr("two processes in one"), 1)));
  EXPECT_THAT(read(nccl_call + std::string(nccl_call).substr(3)).dropped,
              ElementsAre(testing::Pair("a line that names no process", 1)));
  std::string repeated = nccl_call;
  repeated.insert(repeated.size() - 1, " [repeated 3x across cluster]");
  EXPECT_THAT(error(repeated), HasSubstr("RAY_DEDUP_LOGS=0"));
}

// A file of an archive, as tar writes it.
std::string member(const std::string& name, const std::string& text) {
  std::string block(512, '\0');
  block.replace(0, name.size(), name);
  const std::string size = fmt::format("{:011o}", text.size());
  block.replace(124, size.size(), size).replace(156, 1, "0").replace(257, 5, "ustar");
  return block + text + std::string((512 - text.size() % 512) % 512, '\0');
}

// The text as gzip packs it.
std::string packed(const TemporaryFolder& folder, const std::string& text) {
  const std::string path = std::filesystem::path(folder.file("packed")).string();
  const gzFile file = ::gzopen(path.c_str(), "wb");
  EXPECT_EQ(::gzwrite(file, text.data(), static_cast<unsigned>(text.size())),
            static_cast<int>(text.size()));
  ::gzclose(file);
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

TEST_F(ReplayReaders, CompressedTracesAndArchives) {
  const auto json = [](int sequence) {
    return fmt::format(R"({{"entries": [{}]}})", entry("nccl:barrier", sequence, "[]", "[]"));
  };
  EXPECT_THAT(read(packed(folder_, json(1))).calls, SizeIs(1));
  EXPECT_THAT(read(packed(folder_, nccl_call)).calls, SizeIs(1));
  const std::string whole = packed(folder_, json(1));
  EXPECT_THAT(error(whole.substr(0, whole.size() - 12)), HasSubstr("cut off"));
  EXPECT_THAT(error(packed(folder_, whole)), HasSubstr("it is compressed; unpack it: gunzip"));
  std::string damaged = whole;
  damaged[whole.size() / 2] = static_cast<char>(~damaged[whole.size() / 2]);
  EXPECT_THAT(error(damaged), HasSubstr("damaged"));
  // One trace beside other files, and those of all ranks as numbers count.
  const std::string end(1024, '\0');
  const std::string one =
      member("et/et.json", json(1)) + member("et/code.py", "import torch\n") + end;
  EXPECT_THAT(read(one).calls, SizeIs(1));
  EXPECT_THAT(read(packed(folder_, one)).calls, SizeIs(1));
  const std::string all = member("et.10.json", json(10)) + member("et.9.json", json(9)) + end;
  EXPECT_THAT(error(all), HasSubstr("it has 2 traces; accepted: one in each file"));
  const std::vector<TracePlace> traces = traces_in(folder_.write("all", packed(folder_, all)));
  ASSERT_THAT(traces, SizeIs(2));
  EXPECT_EQ(traces[0].member, "et.9.json");
  EXPECT_EQ(read_trace(traces[0], many).calls[0].sequence, 9U);
  EXPECT_EQ(read_trace(traces[1], many).calls[0].sequence, 10U);
  EXPECT_THAT(error(member("code.py", "import torch\n") + end),
              HasSubstr("archive without traces"));
}

TEST_F(ReplayReaders, WhatIsNoTraceIsOneLine) {
  EXPECT_THAT(error(""), HasSubstr("it is empty"));
  EXPECT_THAT(error("\x80\x04\x95pickle"), HasSubstr("json.dump(pickle.load"));
  EXPECT_THAT(error("\x1f\x8b\x08"), HasSubstr("it is cut off: its compressed data have no end"));
  EXPECT_THAT(error("\x28\xb5\x2f\xfd trace"), HasSubstr("unzstd"));
  EXPECT_THAT(error("hello\n"), HasSubstr("accepted: an execution trace"));
  EXPECT_THAT(error(R"({"traceEvents": []})"), HasSubstr("no \"entries\""));
  EXPECT_THAT(error(R"({"entries": [{"profiling_name": "nccl:all)"),
              HasSubstr("in the middle of a record"));
  EXPECT_THAT(
      error(R"({"entries": [{]})"),
      HasSubstr(
          "line 1, column 15: it is not JSON at byte 15: unexpected '\"entries\": [{]'; whole"));
  EXPECT_THAT(error(R"({"entries": [{"a": ")" + std::string(20 << 20, 'x') + R"("}]})"),
              HasSubstr("more than 16 MiB"));
}

TEST_F(ReplayReaders, CallsBeyondTheLimitAreCounted) {
  std::string log = nccl_init;
  for (int k = 0; k < 5; ++k) log += nccl_call;
  const RankTrace t = read(log, 2);
  EXPECT_THAT(t.calls, SizeIs(2));
  EXPECT_THAT(t.dropped, ElementsAre(testing::Pair(HasSubstr("--max-calls"), 3)));
}

}  // namespace
}  // namespace ccl_tests::replay
