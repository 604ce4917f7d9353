// What Debian's Gloo does wrong or leaves out, and the module has to keep away from its users.
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <numeric>
#include <set>

#include "src/core/capabilities.hpp"
#include "src/core/communicator.hpp"
#include "src/core/error.hpp"
#include "tests/modules/gloo_world.hpp"
#include "tests/ranks/on_backend.hpp"

namespace ccl_tests::test {
namespace {

class Gloo : public OnBackend {
 protected:
  template <class Body>
  std::vector<std::string> run(const Body& body, const BackendOptions& options = {}) const {
    return run_world(backend_, ranks(), body, options);
  }
};
INSTANTIATE_TEST_SUITE_P(Ranks, Gloo, testing::Combine(every_gloo, testing::Values(1, 3, 4)));
class GloosPeers : public Gloo {};  // one rank waits for nobody
INSTANTIATE_TEST_SUITE_P(Ranks, GloosPeers, testing::Combine(every_gloo, testing::Values(3, 4)));

TEST_P(Gloo, MessageToOneselfIsACopy) {  // Gloo's own send to self crashes
  expect_no_errors(run([&](int rank, Communicator& c) {
    std::vector<int> out(100, rank + 7);
    std::vector<int> in(100, -1);
    Call call = make_call(rank, ranks(), out.data(), in.data(), 100, DataType::int32);
    call.peer = rank;
    c.begin_group();
    c.recv(call);
    c.send(call);
    c.end_group();
    EXPECT_EQ(in, out);
  }));
}

TEST_P(Gloo, MessageToOneselfNeedsItsReceive) {
  for (const std::string& error : run([&](int rank, Communicator&c) {
         int value = 0;
         Call call = make_call(rank, ranks(), &value, nullptr, 1, DataType::int32);
         call.peer = rank;
         c.send(call);
       })) {
    EXPECT_NE(error.find("needs its send and its receive"), std::string::npos) << error;
  }
}

TEST_P(Gloo, SeveralMessagesOfAPairKeepTheirOrder) {
  const int n = ranks();
  expect_no_errors(run([&](int rank, Communicator& c) {
    std::vector<int> out(5), in(5, -1);
    std::iota(out.begin(), out.end(), 10 * rank);
    c.begin_group();
    for (std::size_t k = 0; k < 5; ++k) {
      Call call = make_call(rank, n, &out[k], &in[k], 1, DataType::int32);
      call.peer = (rank + 1) % n;
      c.send(call);
      call.peer = (rank + n - 1) % n;
      c.recv(call);
    }
    c.end_group();
    const int previous = (rank + n - 1) % n;
    for (std::size_t k = 0; k < 5; ++k) EXPECT_EQ(in[k], 10 * previous + static_cast<int>(k));
  }));
}

TEST_P(Gloo, NothingToDoIsNoCrash) {  // Gloo's allgather of 0 elements divides by zero
  const int n = ranks();
  expect_no_errors(run([&](int rank, Communicator& c) {
    char send = 1, recv = 2;
    const std::vector<std::size_t> zeros(static_cast<std::size_t>(n), 0);
    Call call = make_call(rank, n, &send, &recv, 0, DataType::float32);
    call.send_counts = call.send_offsets = call.recv_counts = call.recv_offsets = zeros;
    c.all_gather(call);
    c.all_reduce(call);
    c.reduce(call);
    c.broadcast(call);
    c.reduce_scatter(call);
    c.alltoall(call);
    c.alltoallv(call);
    c.gather(call);
    c.scatter(call);
    call.peer = (rank + 1) % n;
    c.begin_group();
    c.send(call);
    call.peer = (rank + n - 1) % n;
    c.recv(call);
    c.end_group();
    c.barrier(call);
    EXPECT_EQ(recv, 2);
  }));
}

TEST_P(Gloo, ReduceWritesNothingBeyondItsCount) {  // it does scribble within the output of other
                                                   // ranks than the root
  const int n = ranks();
  for (int root = 0; root < n; ++root) {
    expect_no_errors(run([&](int rank, Communicator& c) {
      constexpr std::size_t count = 1000, guard = 1024;
      const std::vector<double> in(count, rank + 1.0);
      std::vector<double> out(count + 2 * guard, -5.0);
      c.reduce(make_call(rank, n, in.data(), out.data() + guard, count, DataType::float64,
                         ReduceOp::sum, root));
      for (std::size_t i = 0; i < guard; ++i) {
        ASSERT_EQ(out[i], -5.0);
        ASSERT_EQ(out[guard + count + i], -5.0);
      }
      EXPECT_EQ(in, std::vector<double>(count, rank + 1.0));
      for (std::size_t i = 0; rank == root && i < count; ++i)
        ASSERT_EQ(out[guard + i], n * (n + 1) / 2.0);
    }));
  }
}

TEST_P(Gloo, ReduceScatterOfManyPieces) {  // the ring cuts blocks into pieces of 256 KiB
  const int n = ranks();
  const auto ranks = static_cast<std::size_t>(n);
  for (const std::size_t count :
       {std::size_t{1}, std::size_t{32768}, std::size_t{32769}, std::size_t{300'001}}) {
    for (const bool in_place : {false, true}) {
      expect_no_errors(run([&](int rank, Communicator& c) {
        const auto me = static_cast<std::size_t>(rank);
        std::vector<double> send(count * ranks);
        for (std::size_t i = 0; i < send.size(); ++i)
          send[i] = static_cast<double>(i % 1009) + rank;
        const std::vector<double> before = send;
        std::vector<double> other(count, -1);
        double* const recv = in_place ? send.data() + me * count : other.data();
        c.reduce_scatter(make_call(rank, n, send.data(), recv, count, DataType::float64));
        for (std::size_t i = 0; i < count; ++i) {
          const double expected =
              n * static_cast<double>((me * count + i) % 1009) + n * (n - 1) / 2.0;
          ASSERT_EQ(recv[i], expected) << "rank " << rank << " element " << i;
        }
        if (!in_place) {
          EXPECT_EQ(send, before);
        }
      }));
    }
  }
}

// Blocks of 0 to 2 elements, with gaps between them on the ranks that say so.
void expect_alltoallv(int rank, int n, Communicator& c, bool gaps) {
  c.set_time_limit(10);
  const auto ranks = static_cast<std::size_t>(n);
  std::vector<int> send(8 * ranks, -2), recv(8 * ranks, -1), expected(8 * ranks, -1);
  std::vector<std::size_t> counts, offsets;
  std::size_t next = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    const std::size_t at = gaps ? 8 * r + 2 : next;
    counts.push_back((static_cast<std::size_t>(rank) + r) % 3);
    offsets.push_back(at);
    next += counts[r];
    for (std::size_t k = 0; k < counts[r]; ++k) {
      send[at + k] = 100 * rank + static_cast<int>(10 * r + k);
      expected[at + k] = 100 * static_cast<int>(r) + 10 * rank + static_cast<int>(k);
    }
  }
  Call call = make_call(rank, n, send.data(), recv.data(), 0, DataType::int32);
  call.send_counts = call.recv_counts = counts;
  call.send_offsets = call.recv_offsets = offsets;
  c.alltoallv(call);
  EXPECT_EQ(recv, expected);
}

TEST_P(Gloo, AlltoallvTakesBlocksThatAreNotAdjacent) {
  const int n = ranks();
  expect_no_errors(run([&](int rank, Communicator& c) { expect_alltoallv(rank, n, c, true); }));
}

TEST_P(Gloo, AlltoallvTakesGapsOnOneRankOnly) {  // each sees its own offsets alone
  const int n = ranks();
  expect_no_errors(
      run([&](int rank, Communicator& c) { expect_alltoallv(rank, n, c, rank == 1); }));
}

TEST_P(GloosPeers, AWaitEndsAtItsLimit) {
  const int n = ranks();
  const auto errors = run([&](int rank, Communicator& c) {
    if (rank == 0) return;  // never enters
    c.set_time_limit(0.2);
    std::vector<float> data(4, 1.0F);
    c.all_reduce(make_call(rank, n, data.data(), data.data(), 4, DataType::float32));
  });
  for (int rank = 1; rank < n; ++rank) {
    const std::string& error = errors[static_cast<std::size_t>(rank)];
    // The first to give up closes its connections, which the others may notice before their own
    // limit.
    EXPECT_FALSE(error.empty());
  }
  const auto timed_out = [](const std::string& e) { return e.rfind("Timeout", 0) == 0; };
  EXPECT_TRUE(std::any_of(errors.begin(), errors.end(), timed_out));
}

TEST_P(GloosPeers, AMessageOutsideAGroupHasALimitOfItsOwn) {  // of its bytes, not of all before it
  const int n = ranks();
  const auto errors = run([&](int rank, Communicator& c) {
    c.set_time_limit(0.5);
    std::vector<char> data(20'000'000);
    Call call = make_call(rank, n, data.data(), data.data(), data.size(), DataType::int8);
    call.peer = 1 - rank;
    if (rank == 0) c.send(call);
    if (rank != 1) return;
    c.recv(call);
    call.count = 1;
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_THROW(c.recv(call), Timeout);  // rank 0 sends no more
    EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(10));
  });
  expect_no_errors(errors);
}

TEST_P(GloosPeers, AbortEndsAWait) {
  const int n = ranks();
  const auto errors = run([&](int rank, Communicator& c) {
    if (rank == 0) return;  // never enters
    std::thread breaker([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      c.abort();
    });
    std::vector<float> data(4, 1.0F);
    try {
      c.all_reduce(make_call(rank, n, data.data(), data.data(), 4, DataType::float32));
    } catch (...) {
      breaker.join();
      throw;
    }
    breaker.join();
  });
  for (int rank = 1; rank < n; ++rank) EXPECT_FALSE(errors[static_cast<std::size_t>(rank)].empty());
}

TEST_P(Gloo, UnknownInterfaceAndTransportAreRefused) {
  BackendOptions options;
  options.interface = "no-such-interface";
  for (const std::string& error : run([](int, Communicator&) {}, options)) {
    EXPECT_EQ(error.rfind("UsageError: --interface: there is no interface 'no-such-interface'", 0),
              0U)
        << error;
  }
}

TEST_P(Gloo, LoopbackInterfaceByName) {
  BackendOptions options;
  options.interface = "lo";
  expect_no_errors(run(
      [&](int rank, Communicator& c) {
        int value = rank + 1;
        c.all_reduce(make_call(rank, ranks(), &value, &value, 1, DataType::int32));
        EXPECT_EQ(value, ranks() * (ranks() + 1) / 2);
      },
      options));
}

TEST_P(Gloo, SaysWhatIsComposedAndWhoseAlgorithmsRun) {
  expect_no_errors(run([](int, Communicator& c) {
    const Capabilities& can = c.capabilities();
    EXPECT_TRUE(can.emulates({OperationId::all_reduce}, DataType::float32, ReduceOp::avg));
    EXPECT_TRUE(can.emulates({OperationId::all_reduce}, DataType::int8, ReduceOp::mulsum));
    EXPECT_FALSE(can.emulates({OperationId::all_reduce}, DataType::bfloat16, ReduceOp::sum));
    const auto& lines = can.description;
    EXPECT_TRUE(std::any_of(lines.begin(), lines.end(), [](const std::string& line) {
      return line.find("the algorithms are the suite's") != std::string::npos;
    }));
  }));
}

TEST_P(Gloo, NeedsNoMoreFilesThanItSays) {
  const auto open_files = [] {
    const std::filesystem::directory_iterator files("/proc/self/fd");
    return static_cast<std::size_t>(std::distance(files, std::filesystem::directory_iterator()));
  };
  const std::size_t before = open_files();
  const std::size_t said =
      backend_->info().descriptors_per_rank(ranks()) * static_cast<std::size_t>(ranks());
  expect_no_errors(run([&](int, Communicator&) { EXPECT_LE(open_files(), before + said + 2); }));
}

// How many threads of this process are scheduled as SCHED_BATCH.
int batch_threads() {
  int number = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task"))
    if (sched_getscheduler(std::stoi(entry.path().filename())) == SCHED_BATCH) ++number;
  return number;
}

struct Policies {
  int batch = 0;             // threads under SCHED_BATCH
  std::vector<int> callers;  // the policy of each rank's own thread
  std::string line;          // of the header
};

Policies policies_with(const BackendPtr& gloo, int ranks, const BackendOptions& options) {
  Policies found{0, std::vector<int>(static_cast<std::size_t>(ranks)), ""};
  const auto errors = run_world(
      gloo, ranks,
      [&](int rank, Communicator& communicator) {
        found.callers[static_cast<std::size_t>(rank)] = sched_getscheduler(0);
        if (rank != 0) return;
        found.batch = batch_threads();
        for (const std::string& line : communicator.capabilities().description)
          if (line.find("SCHED_BATCH") != std::string::npos) found.line = line;
      },
      options);
  for (const std::string& error : errors) EXPECT_EQ(error, "");
  return found;
}

// A thread inherits the policy of the one that starts it.
TEST_P(Gloo, EventThreadsAreBatchWhereCpusAreShortOrAsTheUserSays) {
  EXPECT_EQ(policies_with(backend_, ranks(), {}).batch, 0);
  EXPECT_EQ(policies_with(backend_, ranks(), {}).line, "");

  BackendOptions options;
  options.cpus_short = true;
  const Policies chosen = policies_with(backend_, ranks(), options);
  EXPECT_EQ(chosen.batch, 2 * ranks());  // each rank's own thread and its event thread
  for (const int policy : chosen.callers) EXPECT_EQ(policy, SCHED_BATCH);
  EXPECT_NE(chosen.line.find("as CPUs are short"), std::string::npos) << chosen.line;

  options.own["event_threads"] = "other";
  EXPECT_EQ(policies_with(backend_, ranks(), options).batch, 0);
  options.cpus_short = false;
  options.own["event_threads"] = "batch";
  const Policies events = policies_with(backend_, ranks(), options);
  EXPECT_EQ(events.batch, ranks());
  for (const int policy : events.callers) EXPECT_EQ(policy, SCHED_OTHER);
}

TEST_P(Gloo, EventThreadsHaveNoOtherPolicy) {
  BackendOptions options;
  options.own["event_threads"] = "idle";
  EXPECT_THROW(check_options(*backend_, options), UsageError);
}

TEST_P(Gloo, ReducesByItsOwnFunctionsOrByTheSuites) {
  BackendOptions options;
  for (const char* const choice : {"gloo", "suite"}) {
    options.own["reduce"] = choice;
    EXPECT_NO_THROW(check_options(*backend_, options));
  }
  options.own["reduce"] = "torch";
  EXPECT_THROW(check_options(*backend_, options), UsageError);
}

// A library of one module that took a symbol of the other's would find its objects of another size.
TEST(Gloos, OfSeveralDaysWorkInOneProcessAtOneTime) {
  if (tested_gloos.size() < 2) GTEST_SKIP() << "this build has no second Gloo (CCL_GLOO_SOURCE)";
  std::set<std::string> libraries;
  std::vector<std::future<std::vector<std::string>>> jobs;
  for (const std::string& name : tested_gloos) {
    const BackendPtr gloo = open_backend(name);
    EXPECT_EQ(gloo->info().name, name);
    EXPECT_TRUE(libraries.insert(gloo->info().library).second) << gloo->info().library;
    jobs.push_back(std::async(std::launch::async, [gloo] {
      return run_world(gloo, 3, [](int rank, Communicator& c) {
        for (int k = 0; k < 200; ++k) {
          std::vector<int> data(1000, rank + k);
          c.all_reduce(make_call(rank, 3, data.data(), data.data(), 1000, DataType::int32));
          ASSERT_EQ(data, std::vector<int>(1000, 3 * k + 3));
        }
        c.set_time_limit(0.2);
        int value = 0;
        // Gloo's own exceptions, which are not the other Gloo's.
        if (rank > 0) {
          EXPECT_THROW(c.all_reduce(make_call(rank, 3, &value, &value, 1, DataType::int32)), Error);
        }
      });
    }));
  }
  for (auto& job : jobs) expect_no_errors(job.get());
}

}  // namespace
}  // namespace ccl_tests::test
