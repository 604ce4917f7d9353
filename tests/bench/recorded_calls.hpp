// A communicator that remembers what was asked of it, to ask for the same once more.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "src/core/forwarding_communicator.hpp"

namespace ccl_tests::bench {

class RecordedCalls : public ForwardingCommunicator {
 public:
  using ForwardingCommunicator::ForwardingCommunicator;

  // While on, operations are remembered, behind those remembered before.
  void record(bool on) { recording_ = on; }

  // The same operations on the same buffers in the same order, each complete before the next.
  void repeat() {
    for (const auto& [operation, call] : calls_) {
      ForwardingCommunicator::perform(operation, call);
      below().wait();
    }
  }

  // The large buffers that this rank's packing fills for them: data, bytes.
  void each_packed(const std::function<void(std::byte*, std::size_t)>& f) const {
    constexpr std::size_t large = 4096;  // lengths are less
    for (const auto& [operation, call] : calls_) {
      const std::size_t bytes = call.count * size_of(call.type);
      const bool receives = operation == OperationId::broadcast && call.self.rank != call.root;
      if (bytes < large || receives) continue;
      f(static_cast<std::byte*>(const_cast<void*>(call.send)), bytes);
    }
  }

  std::unique_ptr<Work> start_all_reduce(const Call& call) override {
    note(call, OperationId::all_reduce);
    return below().start_all_reduce(call);
  }
  std::unique_ptr<Work> start_broadcast(const Call& call) override {
    note(call, OperationId::broadcast);
    return below().start_broadcast(call);
  }

 protected:
  void perform(OperationId operation, const Call& call) override {
    note(call, operation);
    ForwardingCommunicator::perform(operation, call);
  }

 private:
  void note(const Call& call, OperationId operation) {
    if (recording_) calls_.emplace_back(operation, call);
  }
  std::vector<std::pair<OperationId, Call>> calls_;
  bool recording_ = false;
};

}  // namespace ccl_tests::bench
