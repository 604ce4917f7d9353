// A backend that does what loopback does, and then something wrong.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "src/backends/loopback.hpp"
#include "src/core/forwarding_communicator.hpp"

namespace ccl_tests::test {

// What goes wrong. before: may change the call or say that it is not to be made at all (false);
// after: may change the data. number: how many operations this rank has made before.
struct Fault {
  std::function<bool(int rank, int number, Call& call)> before = [](int, int, Call&) {
    return true;
  };
  std::function<void(int rank, int number, const Call& call)> after = [](int, int, const Call&) {};
};

class FaultyCommunicator : public ForwardingCommunicator {
 public:
  FaultyCommunicator(std::unique_ptr<Communicator> right, int rank, const Fault& fault)
      : ForwardingCommunicator(*right), right_(std::move(right)), rank_(rank), fault_(fault) {}

  // What is started has faults, too.
  std::unique_ptr<Work> start_all_reduce(const Call& c) override {
    return Communicator::start_all_reduce(c);
  }
  std::unique_ptr<Work> start_broadcast(const Call& c) override {
    return Communicator::start_broadcast(c);
  }

 protected:
  void perform(OperationId operation, const Call& c) override {
    Call call = c;
    const int number = number_++;
    std::vector<std::byte> elsewhere;
    if (!fault_.before(rank_, number, call)) {
      // The other ranks' operation still needs this one: make it on data that nobody looks at.
      elsewhere.resize(1 << 20);
      call.recv = elsewhere.data();
    }
    ForwardingCommunicator::perform(operation, call);
    fault_.after(rank_, number, c);
  }

 private:
  std::unique_ptr<Communicator> right_;
  int rank_;
  const Fault& fault_;
  int number_ = 0;
};

class FaultyBackend : public LoopbackBackend {
 public:
  explicit FaultyBackend(Fault fault) : fault_(std::move(fault)) {}
  BackendInfo info() const override {
    BackendInfo result = LoopbackBackend::info();
    result.name = "faulty";
    return result;
  }
  std::unique_ptr<Communicator> connect(ControlChannel& channel,
                                        const BackendOptions& options) const override {
    return std::make_unique<FaultyCommunicator>(LoopbackBackend::connect(channel, options),
                                                channel.rank(), fault_);
  }

 private:
  Fault fault_;
};

}  // namespace ccl_tests::test
