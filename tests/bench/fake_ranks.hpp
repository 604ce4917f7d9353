// Ranks 1 to N-1 of a job as far as process 0 can tell: plain sockets that send and read bytes made
// beforehand, in one process and on one thread.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace ccl_tests::bench {

class FakeRanks {
 public:
  // Connects ranks 1 to ranks-1 to a port of 127.0.0.1. Throws Error.
  FakeRanks(int ranks, int port);
  ~FakeRanks();
  FakeRanks(const FakeRanks&) = delete;
  FakeRanks& operator=(const FakeRanks&) = delete;

  // Every rank sends its message, if that is not empty, and then reads `answer_bytes`. Returns when
  // all have. Throws Error.
  void step(const std::function<std::string(int rank)>& message, std::size_t answer_bytes);

  // What the rank read in the last step.
  const std::string& answer(int rank) const { return fakes_.at(static_cast<std::size_t>(rank)).in; }

 private:
  struct Fake {
    int fd = -1;
    std::string in;
    std::size_t read = 0;
  };
  void read_some(Fake& fake, std::size_t& missing);

  std::vector<Fake> fakes_;  // by rank; that of rank 0 is not used
  int epoll_ = -1;
};

}  // namespace ccl_tests::bench
