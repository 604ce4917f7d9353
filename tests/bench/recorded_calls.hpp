// A communicator that remembers what was asked of it, to ask for the same once more.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "src/core/communicator.hpp"

namespace ccl_tests::bench {

class RecordedCalls : public Communicator {
 public:
  using Operation = void (Communicator::*)(const Call&);

  explicit RecordedCalls(Communicator& below) : below_(below) {}

  // While on, operations are remembered, behind those remembered before.
  void record(bool on) { recording_ = on; }

  // The same operations on the same buffers in the same order, each complete before the next.
  void repeat() {
    for (const auto& [operation, call] : calls_) {
      (below_.*operation)(call);
      below_.wait();
    }
  }

  // The large buffers that this rank's packing fills for them: data, bytes.
  void each_packed(const std::function<void(std::byte*, std::size_t)>& f) const {
    constexpr std::size_t large = 4096;  // lengths are less
    for (const auto& [operation, call] : calls_) {
      const std::size_t bytes = call.count * size_of(call.type);
      const bool receives = operation == &Communicator::broadcast && call.self.rank != call.root;
      if (bytes < large || receives) continue;
      f(static_cast<std::byte*>(const_cast<void*>(call.send)), bytes);
    }
  }

  void all_reduce(const Call& call) override { make(call, &Communicator::all_reduce); }
  void reduce(const Call& call) override { make(call, &Communicator::reduce); }
  void broadcast(const Call& call) override { make(call, &Communicator::broadcast); }
  void all_gather(const Call& call) override { make(call, &Communicator::all_gather); }
  void gather(const Call& call) override { make(call, &Communicator::gather); }
  std::unique_ptr<Work> start_all_reduce(const Call& call) override {
    note(call, &Communicator::all_reduce);
    return below_.start_all_reduce(call);
  }
  std::unique_ptr<Work> start_broadcast(const Call& call) override {
    note(call, &Communicator::broadcast);
    return below_.start_broadcast(call);
  }
  void wait() override { below_.wait(); }
  void abort() noexcept override { below_.abort(); }
  void set_time_limit(double limit_s) override { below_.set_time_limit(limit_s); }
  double now() const override { return below_.now(); }

 private:
  void note(const Call& call, Operation operation) {
    if (recording_) calls_.emplace_back(operation, call);
  }
  void make(const Call& call, Operation operation) {
    note(call, operation);
    (below_.*operation)(call);
  }

  Communicator& below_;
  std::vector<std::pair<Operation, Call>> calls_;
  bool recording_ = false;
};

}  // namespace ccl_tests::bench
