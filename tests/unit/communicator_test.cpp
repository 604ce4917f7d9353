// What the base of all communicators does itself: messages, limits; and what decorators forward.
#include "src/core/communicator.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>

#include "src/core/forwarding_communicator.hpp"

namespace ccl_tests {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// Notes the messages of every transfer, as "to 1: 8 B".
class Transfers : public Communicator {
 public:
  void transfer(std::span<Message> messages, Deadline& deadline) override {
    std::vector<std::string> texts;
    for (const Message& m : messages) {
      texts.push_back((m.sends() ? "to " : "from ") + std::to_string(m.peer) + ": " +
                      std::to_string(m.bytes.size()) + " B");
    }
    made.push_back(texts);
    limit_s = deadline.limit_s();
    if (fails) throw Error("the wire broke");
  }
  std::vector<std::vector<std::string>> made;
  double limit_s = -1;
  bool fails = false;
};

Call message(int peer, std::size_t count) {
  static double data[1000];
  Call call;
  call.send = call.recv = data;
  call.count = count;
  call.type = DataType::float64;
  call.peer = peer;
  return call;
}

TEST(Messages, AloneAreATransferEach) {
  Transfers c;
  c.send(message(1, 1));
  c.recv(message(2, 2));
  EXPECT_THAT(c.made, ElementsAre(ElementsAre("to 1: 8 B"), ElementsAre("from 2: 16 B")));
}

TEST(Messages, OfAGroupAreOneTransfer) {
  Transfers c;
  c.begin_group();
  c.send(message(1, 1));
  c.recv(message(2, 2));
  EXPECT_THAT(c.made, IsEmpty());
  c.end_group();
  EXPECT_THAT(c.made, ElementsAre(ElementsAre("to 1: 8 B", "from 2: 16 B")));
}

TEST(Messages, OfAnEmptyGroupAreATransferToo) {
  Transfers c;
  c.begin_group();
  c.end_group();
  EXPECT_THAT(c.made, ElementsAre(IsEmpty()));
}

TEST(Messages, HaveTheLimitOfAllTheirBytes) {
  Transfers c;
  c.set_time_limit(3);
  c.begin_group();
  for (int k = 0; k < 250; ++k) c.send(message(1, 500));
  c.end_group();
  EXPECT_EQ(c.limit_s, 4);
}

TEST(Messages, ThatAnExceptionKeptFromTheirGroupAreDropped) {
  Transfers c;
  const auto fail_within = [&] {
    c.begin_group();
    c.send(message(1, 1));
    throw std::runtime_error("between");
  };
  EXPECT_THROW(fail_within(), std::runtime_error);
  c.begin_group();
  c.send(message(2, 2));
  c.end_group();
  EXPECT_THAT(c.made, ElementsAre(ElementsAre("to 2: 16 B")));
}

TEST(Messages, OfAGroupThatFailedAreNotSentAgain) {
  Transfers c;
  c.fails = true;
  c.begin_group();
  c.send(message(1, 1));
  EXPECT_THROW(c.end_group(), Error);
  c.fails = false;
  c.send(message(2, 2));  // stands alone again
  EXPECT_THAT(c.made, ElementsAre(ElementsAre("to 1: 8 B"), ElementsAre("to 2: 16 B")));
}

TEST(Deadlines, EndWithAnAbort) {
  Transfers c;
  Deadline deadline = c.deadline(0);
  EXPECT_FALSE(deadline.aborted());
  c.abort();
  EXPECT_TRUE(deadline.aborted());
}

// Notes the name of every virtual function that is called.
class Spy : public Communicator {
 public:
  void all_reduce(const Call&) override { note("all_reduce"); }
  void reduce(const Call&) override { note("reduce"); }
  void broadcast(const Call&) override { note("broadcast"); }
  void all_gather(const Call&) override { note("all_gather"); }
  void reduce_scatter(const Call&) override { note("reduce_scatter"); }
  void all_gatherv(const Call&) override { note("all_gatherv"); }
  void reduce_scatterv(const Call&) override { note("reduce_scatterv"); }
  void alltoall(const Call&) override { note("alltoall"); }
  void alltoallv(const Call&) override { note("alltoallv"); }
  void gather(const Call&) override { note("gather"); }
  void scatter(const Call&) override { note("scatter"); }
  void gatherv(const Call&) override { note("gatherv"); }
  void scatterv(const Call&) override { note("scatterv"); }
  void barrier(const Call&) override { note("barrier"); }
  void transfer(std::span<Message>, Deadline&) override { note("transfer"); }
  std::unique_ptr<Work> start_all_reduce(const Call&) override {
    return note("start_all_reduce"), nullptr;
  }
  std::unique_ptr<Work> start_broadcast(const Call&) override {
    return note("start_broadcast"), nullptr;
  }
  void wait() override { note("wait"); }
  void fence() override { note("fence"); }
  void timing_barrier(const GroupRank&) override { note("timing_barrier"); }
  const Capabilities& capabilities() const override {
    return note("capabilities"), Communicator::capabilities();
  }
  GpuExtension* gpu() override { return note("gpu"), nullptr; }
  Clock& clock() override { return note("clock"), Communicator::clock(); }
  std::unique_ptr<Communicator> split(int, int) override { return note("split"), nullptr; }
  void reserve(std::size_t) override { note("reserve"); }
  void abort() noexcept override { note("abort"); }
  void set_time_limit(double) override { note("set_time_limit"); }

  std::set<std::string> called() const { return called_; }

 private:
  void note(const char* name) const { called_.insert(name); }
  mutable std::set<std::string> called_;
};

// The names of the functions that the header declares virtual, but the destructor.
std::set<std::string> virtual_functions() {
  std::ifstream file(CCL_UNIT_DIR "/../../src/core/communicator.hpp");
  std::stringstream text;
  text << file.rdbuf();
  const std::string header = text.str().substr(text.str().find("class Communicator {"));
  const std::string begin = "\n  virtual ";
  std::set<std::string> names;
  for (std::size_t at = 0; (at = header.find(begin, at)) != std::string::npos; ++at) {
    const std::size_t end = header.find_first_of("(;", at);
    const std::size_t name = header.find_last_of(" &*~", end) + 1;
    if (header.at(end) == '(' && header[name - 1] != '~')
      names.insert(header.substr(name, end - name));
  }
  return names;
}

TEST(ForwardingCommunicator, ForwardsEveryVirtualFunction) {
  Spy spy;
  ForwardingCommunicator forwarding(spy);
  Communicator& c = forwarding;
  for (const OperationId operation : all_operations())
    if (operation != OperationId::transfer) (c.*member(operation))({});
  c.send({});
  c.start_all_reduce({});
  c.start_broadcast({});
  c.wait();
  c.fence();
  c.timing_barrier({});
  EXPECT_EQ(&c.clock(), &spy.clock());
  EXPECT_EQ(&c.capabilities(), &spy.capabilities());
  c.gpu();
  c.split(0, 0);
  c.reserve(1);
  c.abort();
  c.set_time_limit(1);
  EXPECT_THAT(spy.called(), testing::ContainerEq(virtual_functions()));
  EXPECT_LE(virtual_functions().size(), 30U);
}

TEST(ForwardingCommunicator, HasTheLimitAndTheAbortOfItsMessages) {
  Transfers below;
  ForwardingCommunicator c(below);
  c.set_time_limit(7);
  c.send(message(1, 1));
  EXPECT_GT(below.limit_s, 7);
  EXPECT_LT(below.limit_s, 7.001);
  Deadline deadline = c.deadline(0);
  c.abort();
  EXPECT_TRUE(deadline.aborted());
}

TEST(Operations, HaveNamesAndMembersInOneOrder) {
  Spy spy;
  for (const OperationId operation : all_operations()) {
    EXPECT_EQ(parse_operation(name(operation)), operation);
    if (operation == OperationId::transfer) continue;
    (spy.*member(operation))({});
    EXPECT_EQ(spy.called().count(std::string(name(operation))), 1U) << name(operation);
  }
  EXPECT_EQ(parse_operation("sendrecv"), std::nullopt);
  EXPECT_THROW(member(OperationId::transfer), Error);
}

TEST(Operations, ThatAClassOverridesAreFound) {
  class Two : public Communicator {
   public:
    void transfer(std::span<Message>, Deadline&) override {}
    void gatherv(const Call&) override {}
  };
  class Three : public Two {
   public:
    void barrier(const Call&) override {}
  };
  const OperationSet two = overridden<Two>();
  const OperationSet three = overridden<Three>();
  for (const OperationId operation : all_operations()) {
    const bool of_two = operation == OperationId::transfer || operation == OperationId::gatherv;
    EXPECT_EQ(two.has(operation), of_two) << name(operation);
    EXPECT_EQ(three.has(operation), of_two || operation == OperationId::barrier);
    EXPECT_TRUE(overridden<Spy>().has(operation));
    EXPECT_TRUE(OperationSet::all().has(operation));
  }
}

}  // namespace
}  // namespace ccl_tests
