// Every program on a backend that has messages alone: right, and marked; and on one that has less.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <mutex>
#include <set>

#include "src/core/communicator.hpp"
#include "src/core/forwarding_communicator.hpp"
#include "tests/ranks/messages_only.hpp"
#include "tests/ranks/world.hpp"

namespace ccl_tests::test {
namespace {

class Composed : public testing::TestWithParam<int> {};
INSTANTIATE_TEST_SUITE_P(Ranks, Composed,
                         testing::ValuesIn(nightly() ? std::vector{1, 2, 3, 4, 5}
                                                     : std::vector{1, 3, 4}));

bool is_of_messages(const Collective& collective) {
  return operations_of(collective).list() == std::vector<OperationId>{OperationId::transfer};
}

// Notes what is called.
class NotedBackend : public LoopbackBackend {
 public:
  std::unique_ptr<Communicator> connect(ControlChannel& channel,
                                        const BackendOptions& options) const override {
    class Noted : public ForwardingCommunicator {
     public:
      Noted(std::unique_ptr<Communicator> loopback, const NotedBackend& notes)
          : ForwardingCommunicator(*loopback), loopback_(std::move(loopback)), notes_(notes) {}
      void transfer(std::span<Message> messages, Deadline& deadline) override {
        notes_.add(OperationId::transfer);
        ForwardingCommunicator::transfer(messages, deadline);
      }
      std::unique_ptr<Work> start_all_reduce(const Call& call) override {
        notes_.add(OperationId::all_reduce);
        return ForwardingCommunicator::start_all_reduce(call);
      }
      std::unique_ptr<Work> start_broadcast(const Call& call) override {
        notes_.add(OperationId::broadcast);
        return ForwardingCommunicator::start_broadcast(call);
      }

     private:
      void perform(OperationId operation, const Call& call) override {
        notes_.add(operation);
        ForwardingCommunicator::perform(operation, call);
      }
      std::unique_ptr<Communicator> loopback_;
      const NotedBackend& notes_;
    };
    return std::make_unique<Noted>(LoopbackBackend::connect(channel, options), *this);
  }
  std::set<OperationId> called() const {
    const std::lock_guard lock(mutex_);
    return called_;
  }

 private:
  void add(OperationId operation) const {
    const std::lock_guard lock(mutex_);
    called_.insert(operation);
  }
  mutable std::mutex mutex_;
  mutable std::set<OperationId> called_;
};

TEST(Operations, ProgramsSayWhichOperationsTheyCall) {
  for (const Collective* collective : all_collectives()) {
    const NotedBackend backend;
    const Outcome outcome = run(*collective, quick(4), backend);
    EXPECT_EQ(outcome.exit_code, 0) << collective->name << ' ' << outcome.text();
    EXPECT_FALSE(backend.called().empty()) << collective->name;
    for (const OperationId operation : backend.called())
      EXPECT_TRUE(operations_of(*collective).has(operation))
          << collective->name << " calls " << name(operation);
  }
}

TEST_P(Composed, EveryProgramIsRightAndItsRowsSaySo) {
  for (const Collective* collective : all_collectives()) {
    if (!runs_on(*collective, GetParam())) continue;
    for (const Skew skew : skews(*collective)) {
      Options o = quick(GetParam());
      o.spec.skew = skew;
      o.sweep.roots = {GetParam() - 1};
      const Outcome outcome = run(*collective, o, MessagesOnlyBackend());
      EXPECT_EQ(outcome.exit_code, 0) << collective->name << ' ' << outcome.text();
      EXPECT_EQ(outcome.summary.failed_checks, 0U) << collective->name;
      ASSERT_FALSE(outcome.rows.empty());
      for (const Row& row : outcome.rows)
        EXPECT_EQ(row.emulated, !is_of_messages(*collective)) << collective->name;
    }
  }
}

TEST_P(Composed, ReductionsAreRightForEveryTypeAndOperation) {
  for (const Collective* collective :
       {&collectives::all_reduce, &collectives::reduce, &collectives::reduce_scatter,
        &collectives::reduce_scatterv}) {
    Options o = quick(GetParam());
    o.sweep.sizes = {8, 4096};
    const auto types = all_types();
    o.sweep.types = at_one_number(GetParam()) ? std::vector(types.begin(), types.end())
                                              : one_type_of_each_width();
    o.sweep.ops.assign(all_ops().begin(), all_ops().end());
    const Outcome outcome = run(*collective, o, MessagesOnlyBackend());
    EXPECT_EQ(outcome.exit_code, 0) << collective->name << ' ' << outcome.text();
    EXPECT_EQ(outcome.rows.size(), 2 * o.sweep.types.size() * o.sweep.ops.size());
  }
}

// Has all_reduce alone, and no bor.
class AllReduceOnlyBackend : public LoopbackBackend {
 public:
  std::unique_ptr<Communicator> connect(ControlChannel& channel,
                                        const BackendOptions& options) const override {
    class AllReduceOnly : public Communicator {
     public:
      explicit AllReduceOnly(std::unique_ptr<Communicator> loopback)
          : loopback_(std::move(loopback)) {}
      void all_reduce(const Call& call) override { loopback_->all_reduce(call); }
      void timing_barrier(const GroupRank& self) override { loopback_->timing_barrier(self); }
      const Capabilities& capabilities() const override { return capabilities_; }

     private:
      std::unique_ptr<Communicator> loopback_;
      Capabilities capabilities_{
          .operations = overridden<AllReduceOnly>(),
          .unsupported = {{std::nullopt, ReduceOp::bor, "no bor in this library"}}};
    };
    return std::make_unique<AllReduceOnly>(LoopbackBackend::connect(channel, options));
  }
};

TEST_P(Composed, NothingIsComposedOfNothing) {
  const AllReduceOnlyBackend backend;
  const Outcome has = run(collectives::all_reduce, quick(GetParam()), backend);
  EXPECT_EQ(has.exit_code, 0) << has.text();
  EXPECT_FALSE(has.rows.at(0).emulated);
  for (const Collective* collective :
       {&collectives::gather, &collectives::sendrecv, &collectives::sync_buffer}) {
    const Outcome outcome = run(*collective, quick(GetParam()), backend);
    EXPECT_EQ(outcome.exit_code, 3) << collective->name;
    EXPECT_TRUE(outcome.rows.empty());
    EXPECT_THAT(outcome.text(), testing::HasSubstr("and no transfer to compose it from"));
  }
}

TEST_P(Composed, WhatALibraryOnTheHostLacksIsLeftOut) {
  Options o = quick(GetParam());
  o.sweep.types = {DataType::int32};
  o.sweep.ops = {ReduceOp::sum, ReduceOp::bor};
  const Outcome some = run(collectives::all_reduce, o, AllReduceOnlyBackend());
  EXPECT_EQ(some.exit_code, 0) << some.text();
  EXPECT_EQ(some.rows.size(), o.sweep.sizes.size());
  o.sweep.ops = {ReduceOp::bor};
  const Outcome none = run(collectives::all_reduce, o, AllReduceOnlyBackend());
  EXPECT_EQ(none.exit_code, 3);
  EXPECT_THAT(none.text(), testing::HasSubstr("no bor in this library"));
}

}  // namespace
}  // namespace ccl_tests::test
