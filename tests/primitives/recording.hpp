// A communicator that writes down what is asked of the one below it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/core/communicator.hpp"

namespace ccl_tests::test {

class Recording : public Communicator {
 public:
  explicit Recording(Communicator& below) : below_(below) {}

  // "all_reduce float[7] sum", "start broadcast uint8[12] from 2", "barrier", in order, since the
  // last call of this.
  std::vector<std::string> taken() {
    most_in_flight_ = in_flight_ = 0;
    return std::exchange(operations_, {});
  }
  // The most operations that were started before they were waited for.
  int most_in_flight() const { return most_in_flight_; }

  // May change what an operation brought.
  std::function<void(const std::string& operation, const Call& call)> after = [](const std::string&,
                                                                                 const Call&) {};

  void all_reduce(const Call& c) override {
    make(c, &Communicator::all_reduce, "all_reduce", std::string(name(c.op)));
  }
  void reduce(const Call& c) override {
    make(c, &Communicator::reduce, "reduce", fmt::format("{} to {}", name(c.op), c.root));
  }
  void broadcast(const Call& c) override {
    make(c, &Communicator::broadcast, "broadcast", fmt::format("from {}", c.root));
  }
  void all_gather(const Call& c) override { make(c, &Communicator::all_gather, "all_gather", ""); }
  void gather(const Call& c) override {
    make(c, &Communicator::gather, "gather", fmt::format("to {}", c.root));
  }
  std::unique_ptr<Work> start_all_reduce(const Call& c) override {
    note(c, "start all_reduce", std::string(name(c.op)));
    return std::make_unique<Started>(below_.start_all_reduce(c), in_flight_);
  }
  std::unique_ptr<Work> start_broadcast(const Call& c) override {
    note(c, "start broadcast", fmt::format("from {}", c.root));
    return std::make_unique<Started>(below_.start_broadcast(c), in_flight_);
  }
  void barrier(const Call& c) override { make(c, &Communicator::barrier, "barrier", ""); }
  void wait() override {
    below_.wait();
    in_flight_ = 0;
  }
  void abort() noexcept override { below_.abort(); }
  void set_time_limit(double limit_s) override { below_.set_time_limit(limit_s); }
  double now() const override { return below_.now(); }

 private:
  class Started : public Work {
   public:
    Started(std::unique_ptr<Work> below, int& async_operations)
        : below_(std::move(below)), in_flight_(async_operations) {}
    void wait() override {
      below_->wait();
      --in_flight_;
    }

   private:
    std::unique_ptr<Work> below_;
    int& in_flight_;
  };

  std::string note(const Call& call, const std::string& operation, const std::string& how) {
    std::string text = operation;
    if (operation != "barrier") text += fmt::format(" {}[{}]", name(call.type), call.count);
    if (!how.empty()) text += ' ' + how;
    operations_.push_back(text);
    most_in_flight_ = std::max(most_in_flight_, ++in_flight_);
    return text;
  }

  void make(const Call& call, void (Communicator::*operation)(const Call&),
            const char* operation_name, const std::string& how) {
    const std::string text = note(call, operation_name, how);
    (below_.*operation)(call);
    after(text, call);
  }

  Communicator& below_;
  std::vector<std::string> operations_;
  int in_flight_ = 0, most_in_flight_ = 0;
};

}  // namespace ccl_tests::test
