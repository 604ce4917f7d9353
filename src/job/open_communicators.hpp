// The communicators and devices of a process's ranks.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

namespace ccl_tests {

class Communicator;
class Device;

// Keeps the communicator of a rank that failed open until the job has said why: closing it would
// fail the other ranks, with a message that hides the cause. Thread-safe.
class OpenCommunicators {
 public:
  OpenCommunicators();
  ~OpenCommunicators();
  Communicator& add(std::unique_ptr<Communicator> communicator);
  // Keeps a device until all communicators are gone.
  Device& keep(std::unique_ptr<Device> device);
  void close(Communicator& communicator);
  // Makes operations that are under way fail.
  void abort_all();

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::vector<std::unique_ptr<Communicator>> open_;
};

}  // namespace ccl_tests
