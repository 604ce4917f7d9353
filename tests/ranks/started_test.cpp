// Operations that are started together and waited for later.
#include <gtest/gtest.h>

#include <csignal>
#include <memory>
#include <thread>
#include <vector>

#include "src/bootstrap/control.hpp"
#include "src/bootstrap/thread_ranks.hpp"
#include "src/core/communicator.hpp"
#include "tests/ranks/on_backend.hpp"

namespace ccl_tests::test {
namespace {

class Started : public OnBackend {
 protected:
  // body(communicator, rank) on one thread per rank.
  template <class Body>
  void on_ranks(Body&& body) {
    const auto control = alone();
    ThreadRanks world(*control, ranks());
    std::vector<std::thread> threads;
    for (int rank = 0; rank < ranks(); ++rank) {
      threads.emplace_back([&, rank] {
        try {
          const auto communicator = backend_->connect(world.rank(rank), {});
          body(*communicator, rank);
        } catch (const std::exception& e) {
          ADD_FAILURE() << "rank " << rank << ": " << e.what();
          world.abort(e.what());
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
};
INSTANTIATE_TEST_SUITE_P(Backends, Started, every_backend);
class StartedAmongRanks : public Started {};  // operations are in flight
INSTANTIATE_TEST_SUITE_P(Backends, StartedAmongRanks,
                         testing::Combine(every_gloo, testing::Values(3, 4)));

constexpr int operations = 40;

// Lengths from 0 to many pieces, so that later ones overtake earlier ones.
std::size_t length(int k) {
  constexpr std::size_t lengths[] = {1, 300'000, 0, 17, 4096};
  return lengths[static_cast<std::size_t>(k) % 5];
}
constexpr std::size_t period = 7;
std::int64_t value(int rank, int k, std::size_t i) {
  return (rank + 1) * 1000 + k * 10 + static_cast<std::int64_t>(i % period);
}

template <class T>
Call in_place(std::vector<T>& values, DataType type, const GroupRank& self, int root = 0) {
  Call call;
  call.send = call.recv = values.data();
  call.count = values.size();
  call.type = type;
  call.self = self;
  call.root = root;
  return call;
}

// Starts all, waits in the order that `order(k)` gives, and looks at every element.
void start_and_check(Communicator& c, int rank, int ranks, int (*order)(int)) {
  std::vector<std::vector<std::int64_t>> data;
  std::vector<std::unique_ptr<Work>> works;
  for (int k = 0; k < operations; ++k) {
    auto& values = data.emplace_back(length(k));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(rank, k, i);
    Call call = in_place(values, DataType::int64, {rank, ranks}, k % ranks);
    call.op = k % 4 == 0 ? ReduceOp::avg : ReduceOp::sum;
    works.push_back(k % 3 == 2 ? c.start_broadcast(call) : c.start_all_reduce(call));
  }
  for (int k = 0; k < operations; ++k) works[static_cast<std::size_t>(order(k))]->wait();
  for (int k = 0; k < operations; ++k) {
    const auto& values = data[static_cast<std::size_t>(k)];
    std::int64_t expected[period] = {};
    for (std::size_t i = 0; i < period; ++i) {
      for (int r = 0; r < ranks; ++r) expected[i] += value(r, k, i);
      if (k % 4 == 0) expected[i] /= ranks;
      if (k % 3 == 2) expected[i] = value(k % ranks, k, i);
    }
    for (std::size_t i = 0; i < values.size(); ++i)
      ASSERT_EQ(values[i], expected[i % period]) << "operation " << k << ", element " << i;
  }
}

TEST_P(Started, OperationsAreRightInTheOrderOfStarting) {
  on_ranks([](Communicator& c, int rank) {
    start_and_check(c, rank, ranks(), [](int k) { return k; });
  });
}

TEST_P(Started, OperationsMayBeWaitedForInAnyOrder) {
  on_ranks([](Communicator& c, int rank) {
    for (int round = 0; round < 3; ++round)
      start_and_check(c, rank, ranks(), [](int k) { return operations - 1 - k; });
  });
}

// Nobody waits for an operation whose peer is gone: it fails on the others when this rank gives up.
TEST_P(StartedAmongRanks, FailsWhenThisRankAborts) {
  std::signal(SIGPIPE, SIG_IGN);  // as the programs do: sockets are shut down under their writers
  const auto control = alone();
  ThreadRanks world(*control, ranks());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks(); ++rank) {
    threads.emplace_back([&, rank] {
      const auto c = backend_->connect(world.rank(rank), {});
      world.rank(rank).all_gather("", 30);  // Gloo must not be shut down while it connects
      std::vector<float> data(1000);
      if (rank > 0) {
        const auto work = c->start_all_reduce(in_place(data, DataType::float32, {rank, ranks()}));
        c->abort();
        EXPECT_THROW(work->wait(), Error);
      }
      world.rank(rank).all_gather("", 30);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace ccl_tests::test
