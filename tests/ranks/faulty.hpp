// A backend that does what loopback does, and then something wrong.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "src/backends/loopback.hpp"

namespace ccl_tests::test {

// What goes wrong. before: may change the call or say that it is not to be made at all (false);
// after: may change the data. number: how many operations this rank has made before.
struct Fault {
  std::function<bool(int rank, int number, Call& call)> before = [](int, int, Call&) {
    return true;
  };
  std::function<void(int rank, int number, const Call& call)> after = [](int, int, const Call&) {};
};

class FaultyCommunicator : public Communicator {
 public:
  FaultyCommunicator(std::unique_ptr<Communicator> right, int rank, const Fault& fault)
      : right_(std::move(right)), rank_(rank), fault_(fault) {}

  void all_reduce(const Call& c) override { make(c, &Communicator::all_reduce); }
  void reduce(const Call& c) override { make(c, &Communicator::reduce); }
  void broadcast(const Call& c) override { make(c, &Communicator::broadcast); }
  void all_gather(const Call& c) override { make(c, &Communicator::all_gather); }
  void reduce_scatter(const Call& c) override { make(c, &Communicator::reduce_scatter); }
  void alltoall(const Call& c) override { make(c, &Communicator::alltoall); }
  void all_gatherv(const Call& c) override { make(c, &Communicator::all_gatherv); }
  void gatherv(const Call& c) override { make(c, &Communicator::gatherv); }
  void scatterv(const Call& c) override { make(c, &Communicator::scatterv); }
  void reduce_scatterv(const Call& c) override { make(c, &Communicator::reduce_scatterv); }
  void alltoallv(const Call& c) override { make(c, &Communicator::alltoallv); }
  void gather(const Call& c) override { make(c, &Communicator::gather); }
  void scatter(const Call& c) override { make(c, &Communicator::scatter); }
  void barrier(const Call& c) override { make(c, &Communicator::barrier); }
  void send(const Call& c) override { right_->send(c); }
  void recv(const Call& c) override { right_->recv(c); }
  void begin_group() override { right_->begin_group(); }
  void end_group() override { right_->end_group(); }
  void wait() override { right_->wait(); }
  void abort() noexcept override { right_->abort(); }
  void set_time_limit(double limit_s) override { right_->set_time_limit(limit_s); }
  std::string description() const override { return "faulty"; }

 private:
  void make(const Call& c, void (Communicator::*operation)(const Call&)) {
    Call call = c;
    const int number = number_++;
    if (fault_.before(rank_, number, call)) {
      (right_.get()->*operation)(call);
    } else {
      // The other ranks' operation still needs this one: make it on data that nobody looks at.
      std::vector<std::byte> elsewhere(1 << 20);
      call.recv = elsewhere.data();
      (right_.get()->*operation)(call);
    }
    fault_.after(rank_, number, c);
  }

  std::unique_ptr<Communicator> right_;
  int rank_;
  const Fault& fault_;
  int number_ = 0;
};

class FaultyBackend : public LoopbackBackend {
 public:
  explicit FaultyBackend(Fault fault) : fault_(std::move(fault)) {}
  std::string_view name() const override { return "faulty"; }
  std::unique_ptr<Communicator> connect(ControlChannel& channel,
                                        const BackendOptions& options) const override {
    return std::make_unique<FaultyCommunicator>(LoopbackBackend::connect(channel, options),
                                                channel.rank(), fault_);
  }

 private:
  Fault fault_;
};

}  // namespace ccl_tests::test
