// Ranks 1 to N-1 of a job as far as its process 0 can tell: they meet in the store, join the
// control plane and exchange, all in one process and on one thread, with two sockets each at most.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

namespace ccl_tests::bench {

struct FakeJob {
  int ranks = 0;           // process 0, which is real, included
  int store_port = 0;      // on 127.0.0.1
  std::string key;         // process 0's address
  std::string version;     // as process 0 says
  std::size_t bytes = 64;  // of one rank in the exchange
};

// As the fakes see them: what process 0 and the store received from all of them and sent to them.
struct Traffic {
  std::uint64_t store_in = 0, store_out = 0;
  std::uint64_t hub_in = 0, hub_out = 0;
};

// The bytes that a rank contributes: all different.
std::string contribution_of(int rank, std::size_t bytes);

class FakeRanks {
 public:
  explicit FakeRanks(const FakeJob& job);
  ~FakeRanks();
  FakeRanks(const FakeRanks&) = delete;
  FakeRanks& operator=(const FakeRanks&) = delete;

  // Each returns when all have done it; throws Error when one cannot.
  void join();
  void all_gather();  // checks what has come
  void leave();

  const Traffic& traffic() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace ccl_tests::bench
