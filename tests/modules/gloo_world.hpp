// Ranks on threads, each with a communicator of the Gloo module.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "src/backends/registry.hpp"
#include "src/bootstrap/control.hpp"
#include "src/bootstrap/thread_ranks.hpp"
#include "src/core/error.hpp"

namespace ccl_tests::test {

// Runs body(rank, communicator) on `ranks` threads; returns what each threw, empty where nothing.
inline std::vector<std::string> run_world(const BackendPtr& gloo, int ranks,
                                          const std::function<void(int, Communicator&)>& body,
                                          const BackendOptions& options = {}) {
  const auto control = alone();
  ThreadRanks world(*control, ranks);
  std::vector<std::string> errors(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      std::string& error = errors[static_cast<std::size_t>(rank)];
      std::unique_ptr<Communicator> communicator;
      try {
        communicator = gloo->connect(world.rank(rank), options);
        body(rank, *communicator);
      } catch (const Timeout& e) {
        error = std::string("Timeout: ") + e.what();
      } catch (const UsageError& e) {
        error = std::string("UsageError: ") + e.what();
      } catch (const Unsupported& e) {
        error = std::string("Unsupported: ") + e.what();
      } catch (const std::exception& e) {
        error = std::string("Error: ") + e.what();
      }
      try {  // nobody closes its connections while others still use them
        world.rank(rank).all_gather("", 60);
      } catch (const std::exception& e) {
        if (error.empty()) error = e.what();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return errors;
}

inline Call make_call(int rank, int ranks, const void* send, void* recv, std::size_t count,
                      DataType type, ReduceOp op = ReduceOp::sum, int root = 0) {
  Call call;
  call.send = send;
  call.recv = recv;
  call.count = count;
  call.type = type;
  call.op = op;
  call.self = {rank, ranks};
  call.root = root;
  return call;
}

inline void expect_no_errors(const std::vector<std::string>& errors) {
  for (const std::string& error : errors) EXPECT_EQ(error, "");
}

}  // namespace ccl_tests::test
