// Keeps what NCCL chose for its operations. NCCL tells a profiler plugin, which this module is.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <string>

namespace ccl_tests::nccl_module {

// A range that NVIDIA's profilers show, until the next begins.
class ProfilerRange {
 public:
  ProfilerRange() = default;
  ~ProfilerRange() { end(); }
  ProfilerRange(const ProfilerRange&) = delete;
  ProfilerRange& operator=(const ProfilerRange&) = delete;
  void begin(const std::string& what) {
    end();
    range_ = nvtxRangeStartA(what.c_str());
    open_ = true;
  }

 private:
  void end() {
    if (open_) nvtxRangeEnd(range_);
    open_ = false;
  }
  nvtxRangeId_t range_ = 0;
  bool open_ = false;
};

// Makes NCCL open this module as its profiler plugin. Before NCCL is first used. Throws Unsupported
// where the user has set another one.
void listen_to_nccl();

// One communicator's operations as NCCL tells them, on any of its threads.
class Listener {
 public:
  // A communicator of NCCL shows with the first collective whose receive buffer is
  // `token`, which no other communicator receives into.
  explicit Listener(const void* token);
  ~Listener();
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  // Algorithms of the operations since the last call, and of those into the token where they are
  // asked for: "RING/LL, 2 channels". Distinct ones are joined by "; ".
  std::string take(bool with_token);

 private:
  const void* token_;
};

}  // namespace ccl_tests::nccl_module
