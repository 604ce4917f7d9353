// Ranks on threads, each with a group over a backend.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "src/backends/registry.hpp"
#include "src/bootstrap/control.hpp"
#include "src/bootstrap/thread_ranks.hpp"
#include "tests/primitives/cases.hpp"

namespace ccl_tests::test {

// Runs body on `ranks` threads; an exception that leaves one fails the test and ends the others.
inline void on_threads(const Backend& backend, int ranks,
                       const std::function<void(World& world)>& body) {
  constexpr double limit_s = 60;
  const auto control = alone();
  ThreadRanks together(*control, ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      ControlChannel& channel = together.rank(rank);
      try {
        const auto communicator = backend.connect(channel, {});
        communicator->set_time_limit(limit_s);
        Recording wire(*communicator);
        primitives::Group group(channel, wire, limit_s, {&backend});
        World world{group, wire};
        body(world);
        channel.all_gather("", limit_s);  // nobody closes what others still use
      } catch (const std::exception& e) {
        ADD_FAILURE() << "rank " << rank << ": " << e.what();
        together.abort(e.what());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace ccl_tests::test
