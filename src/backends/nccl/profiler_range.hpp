// Ranges that NVIDIA's profilers show.
#pragma once

#include <nvtx3/nvToolsExt.h>

#include <string>

namespace ccl_tests::nccl_module {

// A range of NVIDIA's profilers, until the next begins.
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

}  // namespace ccl_tests::nccl_module
