// Jobs for tests: processes simulated by threads that each join() for themselves.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "src/bootstrap/control.hpp"
#include "src/bootstrap/thread_ranks.hpp"
#include "src/core/error.hpp"
#include "tests/unit/bootstrap_raw_socket.hpp"

namespace ccl_tests::test {

struct Outcome {
  int code = 0;  // 0: no exception
  std::string message;
};

inline Launch launch_of(int process, int processes, int port) {
  Launch launch;
  launch.launcher = "environment";
  launch.process = process;
  launch.processes = processes;
  launch.master_host = "127.0.0.1";
  launch.master_port = port;
  launch.agent_store = true;
  launch.key_prefix = "ccl-tests/none/0/";
  return launch;
}

inline JoinOptions join_options(double init_timeout_s = 60, int ranks_per_process = 1) {
  return {ranks_per_process, init_timeout_s, "1.0"};
}

// Runs all at once and says how each ended.
inline std::vector<Outcome> run_all(const std::vector<std::function<void()>>& processes) {
  std::vector<Outcome> outcomes(processes.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    threads.emplace_back([&, i] {
      try {
        processes[i]();
      } catch (const Error& error) {
        outcomes[i] = {exit_code(error.code()), error.what()};
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  return outcomes;
}

// A job whose process 0 listens on a port of its own.
inline std::vector<Outcome> run_job(int processes, int ranks_per_process,
                                    const std::function<void(Control&)>& body) {
  const auto listener = RawSocket::listening();
  std::vector<std::function<void()>> all;
  for (int p = 0; p < processes; ++p) {
    all.emplace_back([&, p] {
      Launch launch = launch_of(p, processes, listener.port());
      launch.agent_store = false;
      if (p == 0 && processes > 1) launch.listener = ::dup(listener.descriptor());
      const auto control = join(launch, join_options(60, ranks_per_process), nullptr, nullptr);
      body(*control);
    });
  }
  return run_all(all);
}

// Runs body(channel) on every rank of `processes` processes of `threads` ranks each. A rank that
// throws fails the test.
inline void on_all_ranks(int threads, int processes,
                         const std::function<void(ControlChannel&)>& body) {
  const auto outcomes = run_job(processes, threads, [&](Control& control) {
    ThreadRanks ranks(control, threads);
    std::vector<std::function<void()>> all;
    for (int t = 0; t < threads; ++t) all.emplace_back([&, t] { body(ranks.rank(t)); });
    for (const Outcome& outcome : run_all(all)) EXPECT_EQ(outcome.message, "");
  });
  for (const Outcome& outcome : outcomes) EXPECT_EQ(outcome.message, "");
}

}  // namespace ccl_tests::test
