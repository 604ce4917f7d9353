// What the calling thread has between ncclGroupStart and ncclGroupEnd, and how it reaches streams.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/fake_gpu/handles.hpp"
#include "tests/fake_gpu/nccl_communicator.hpp"

namespace fake_gpu {

// Never destroyed: threads of streams may outlive main.
Handles<Communicator>& communicators();

// The calling thread's, for ncclGetLastError.
std::string& last_message();
ncclResult_t refuse(ncclResult_t result, std::string message);

// An operation for a stream.
struct Issue {
  std::shared_ptr<Communicator> communicator;
  cudaStream_t stream = nullptr;
  Request request;
};

// The making of a communicator. `run` may wait for other ranks; `report` is told its result on the
// same thread.
struct Job {
  std::vector<std::shared_ptr<Communicator>> busy;  // while it runs
  bool blocking = true;
  std::function<ncclResult_t()> run;
  std::function<void(ncclResult_t)> report;
};

class Group {
 public:
  static Group& of_thread();

  void begin() { ++depth_; }
  ncclResult_t end();
  // At once outside a group.
  ncclResult_t add(Issue issue);
  ncclResult_t add(Job job);
  // A call that was refused inside a group makes the group fail.
  ncclResult_t note(ncclResult_t result);

 private:
  int depth_ = 0;
  ncclResult_t error_ = ncclSuccess;
  std::vector<Issue> issues_;
  std::vector<Job> jobs_;
};

}  // namespace fake_gpu
