// A socket that listens on any port of 127.0.0.1, for rank 0 of --np.
#pragma once

namespace ccl_tests {

// Programs that this process starts do not inherit the socket unless they are made to.
class LoopbackListener {
 public:
  LoopbackListener();  // throws std::system_error
  ~LoopbackListener();
  LoopbackListener(const LoopbackListener&) = delete;
  LoopbackListener& operator=(const LoopbackListener&) = delete;

  int descriptor() const { return descriptor_; }
  int port() const;

 private:
  int descriptor_;
};

}  // namespace ccl_tests
