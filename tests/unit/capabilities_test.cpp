// What a library's capabilities say of a program, a type and an operation; a backend's own options.
#include "src/core/capabilities.hpp"

#include <gtest/gtest.h>

#include "src/core/backend.hpp"
#include "src/core/communicator.hpp"

namespace ccl_tests {
namespace {

using enum OperationId;

TEST(Capabilities, OfMessagesAloneAreEveryProgramComposed) {
  const Capabilities can;
  for (const OperationSet& used : {OperationSet{all_reduce}, {gatherv}, {barrier, broadcast}}) {
    EXPECT_EQ(can.why_not(used), std::nullopt);
    EXPECT_TRUE(can.emulates(used, DataType::int8, std::nullopt));
  }
  EXPECT_EQ(can.why_not({transfer}), std::nullopt);
  EXPECT_FALSE(can.emulates({transfer}, DataType::int8, std::nullopt));
}

TEST(Capabilities, WithoutMessagesAreWhatIsThere) {
  const Capabilities can{.operations = {all_reduce}};
  EXPECT_EQ(can.why_not({all_reduce}), std::nullopt);
  EXPECT_FALSE(can.emulates({all_reduce}, DataType::int8, ReduceOp::sum));
  EXPECT_EQ(can.why_not({gather}),
            "this backend has no gather, and no transfer to compose it from");
  EXPECT_EQ(can.why_not({transfer}),
            "this backend has no transfer, and no transfer to compose it from");
}

TEST(Capabilities, OnAGpuComposeNoReduction) {
  const Capabilities can{.memory = Memory::cuda};
  EXPECT_EQ(can.why_not({reduce_scatterv}),
            "this backend has no reduce_scatterv, which is composed on host memory only");
  EXPECT_EQ(can.why_not({alltoall}), std::nullopt);
}

TEST(Capabilities, NameTypesAndOperationsWithAReason) {
  const Capabilities can{.operations = OperationSet::all(),
                         .unsupported = {{DataType::half, std::nullopt, "no half"},
                                         {std::nullopt, ReduceOp::bor, "no bor"},
                                         {DataType::int8, ReduceOp::prod, "no products of int8"}},
                         .emulated = {{std::nullopt, ReduceOp::avg, "sum, then divide"}}};
  EXPECT_EQ(can.why_not(DataType::half, std::nullopt), "no half");
  EXPECT_EQ(can.why_not(DataType::half, ReduceOp::sum), "no half");
  EXPECT_EQ(can.why_not(DataType::int32, ReduceOp::bor), "no bor");
  EXPECT_EQ(can.why_not(DataType::int32, std::nullopt), std::nullopt);
  EXPECT_EQ(can.why_not(DataType::int8, ReduceOp::prod), "no products of int8");
  EXPECT_EQ(can.why_not(DataType::int8, ReduceOp::sum), std::nullopt);
  EXPECT_TRUE(can.emulates({reduce}, DataType::int8, ReduceOp::avg));
  EXPECT_FALSE(can.emulates({reduce}, DataType::int8, ReduceOp::sum));
}

TEST(Capabilities, SayWhoseArithmeticRuns) {
  Capabilities can{.operations = OperationSet::all()};
  EXPECT_EQ(can.arithmetic({all_reduce}, "lib"), "lib's");
  EXPECT_FALSE(can.suite_combines({all_reduce}, DataType::half, ReduceOp::sum));
  can.emulated = {{std::nullopt, ReduceOp::avg, "sum, then divide"}};
  EXPECT_EQ(can.arithmetic({all_reduce}, "lib"), "lib's; the suite's for avg");
  EXPECT_TRUE(can.suite_combines({all_reduce}, DataType::int8, ReduceOp::avg));
  can.combined_by_suite = {{DataType::half, std::nullopt, {}},
                           {DataType::int8, ReduceOp::prod, {}},
                           {std::nullopt, ReduceOp::band, {}},
                           {std::nullopt, ReduceOp::bor, {}}};
  EXPECT_EQ(can.arithmetic({reduce}, "lib"),
            "lib's; the suite's for half, avg, int8 prod, int8 band, int8 bor, uint8 band, uint8 "
            "bor, int32 band, int32 bor, uint32 band, uint32 bor, int64 band, int64 bor, uint64 "
            "band, uint64 bor");
  can.combined_by_suite.push_back({std::nullopt, ReduceOp::bxor, {}});
  EXPECT_EQ(can.arithmetic({reduce}, "lib"),
            "lib's; the suite's for half, avg, bitwise, int8 prod");
  // What is not supported is nobody's.
  can.unsupported = {{DataType::half, std::nullopt, "no"}, {DataType::int8, std::nullopt, "no"}};
  EXPECT_EQ(can.arithmetic({reduce}, "lib"), "lib's; the suite's for avg, bitwise");
  can.combined_by_suite = {{}};
  EXPECT_EQ(can.arithmetic({reduce}, "lib"), "the suite's");
}

TEST(Capabilities, WhatTheSuiteComposesItReduces) {
  const Capabilities can{.operations = {all_reduce, transfer}};
  EXPECT_FALSE(can.suite_combines({all_reduce, gather}, DataType::int8, ReduceOp::sum));
  EXPECT_TRUE(can.suite_combines({all_reduce, reduce}, DataType::int8, ReduceOp::sum));
  EXPECT_EQ(can.arithmetic({reduce_scatter}, "lib"), "the suite's");
  EXPECT_EQ(can.arithmetic({all_reduce, gather}, "lib"), "lib's");
}

class WithOptions : public Backend {
 public:
  explicit WithOptions(std::vector<std::string> keys) : keys_(std::move(keys)) {}
  BackendInfo info() const override { return {.name = "lib", .option_keys = keys_}; }
  std::unique_ptr<Communicator> connect(ControlChannel& /*channel*/,
                                        const BackendOptions& /*options*/) const override {
    return nullptr;
  }

 private:
  std::vector<std::string> keys_;
};

TEST(BackendOptions, OfItsOwnAreThoseThatTheBackendNames) {
  BackendOptions options;
  EXPECT_NO_THROW(check_options(WithOptions({}), options));
  options.own["boxes"] = "4";
  EXPECT_EQ(options.get("boxes"), "4");
  EXPECT_EQ(options.get("depth"), std::nullopt);
  options.mpi_thread = "single";
  EXPECT_THROW(check_options(WithOptions({"boxes", "depth"}), options), UsageError);
  options.mpi_thread.clear();
  EXPECT_NO_THROW(check_options(WithOptions({"boxes", "depth"}), options));
  const auto refused = [&](const Backend& backend) -> std::string {
    try {
      check_options(backend, options);
    } catch (const UsageError& e) {
      return e.what();
    }
    return "";
  };
  EXPECT_EQ(refused(WithOptions({"depth", "width"})),
            "--backend-option boxes=4: lib has no such option; accepted: depth, width");
  EXPECT_EQ(refused(WithOptions({})),
            "--backend-option boxes=4: lib has no such option; accepted: none");
}

TEST(BackendInfo, TakesNumbersAndFunctionsOfTheRanks) {
  const BackendInfo number{.name = "lib", .descriptors_per_rank = 3, .scratch_factor = 1.5};
  EXPECT_EQ(number.descriptors_per_rank(1), 3U);
  EXPECT_EQ(number.descriptors_per_rank(100), 3U);
  EXPECT_EQ(number.scratch_factor(4), 1.5);
  const BackendInfo function{.name = "lib",
                             .scratch_factor = [](int ranks) { return 2.0 * ranks; }};
  EXPECT_EQ(function.scratch_factor(4), 8);
}

}  // namespace
}  // namespace ccl_tests
