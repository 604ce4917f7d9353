// The base of communicators that change something about another one.
#pragma once

#include "src/core/communicator.hpp"

namespace ccl_tests {

// Forwards everything to `below`. A decorator overrides what it changes; perform() is every
// operation at once. `below` outlives it.
class ForwardingCommunicator : public Communicator {
 public:
  explicit ForwardingCommunicator(Communicator& below) : below_(below) {}

  void all_reduce(const Call& call) final { perform(OperationId::all_reduce, call); }
  void reduce(const Call& call) final { perform(OperationId::reduce, call); }
  void broadcast(const Call& call) final { perform(OperationId::broadcast, call); }
  void all_gather(const Call& call) final { perform(OperationId::all_gather, call); }
  void reduce_scatter(const Call& call) final { perform(OperationId::reduce_scatter, call); }
  void all_gatherv(const Call& call) final { perform(OperationId::all_gatherv, call); }
  void reduce_scatterv(const Call& call) final { perform(OperationId::reduce_scatterv, call); }
  void alltoall(const Call& call) final { perform(OperationId::alltoall, call); }
  void alltoallv(const Call& call) final { perform(OperationId::alltoallv, call); }
  void gather(const Call& call) final { perform(OperationId::gather, call); }
  void scatter(const Call& call) final { perform(OperationId::scatter, call); }
  void gatherv(const Call& call) final { perform(OperationId::gatherv, call); }
  void scatterv(const Call& call) final { perform(OperationId::scatterv, call); }
  void barrier(const Call& call) final { perform(OperationId::barrier, call); }

  void transfer(std::span<Message> messages, Deadline& deadline) override {
    below_.transfer(messages, deadline);
  }
  std::unique_ptr<Work> start_all_reduce(const Call& call) override {
    return start(OperationId::all_reduce, call);
  }
  std::unique_ptr<Work> start_broadcast(const Call& call) override {
    return start(OperationId::broadcast, call);
  }
  void wait() override { below_.wait(); }
  void fence() override { below_.fence(); }
  void timing_barrier(const GroupRank& self) override { below_.timing_barrier(self); }
  const Capabilities& capabilities() const override { return below_.capabilities(); }
  GpuExtension* gpu() override { return below_.gpu(); }
  Clock& clock() override { return below_.clock(); }
  std::unique_ptr<Communicator> split(int color, int key) override {
    return below_.split(color, key);
  }
  void reserve(std::size_t bytes) override { below_.reserve(bytes); }
  void abort() noexcept override {
    Communicator::abort();
    below_.abort();
  }
  void set_time_limit(double limit_s) override {
    Communicator::set_time_limit(limit_s);
    below_.set_time_limit(limit_s);
  }

 protected:
  // Makes one of the 14 operations.
  virtual void perform(OperationId operation, const Call& call) {
    (below_.*member(operation))(call);
  }
  // Starts an all_reduce or a broadcast.
  virtual std::unique_ptr<Work> start(OperationId operation, const Call& call) {
    return operation == OperationId::all_reduce ? below_.start_all_reduce(call)
                                                : below_.start_broadcast(call);
  }
  Communicator& below() const { return below_; }

 private:
  Communicator& below_;
};

}  // namespace ccl_tests
