// A communicator that writes down what is asked of the one below it.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "src/core/forwarding_communicator.hpp"

namespace ccl_tests::test {

class Recording : public ForwardingCommunicator {
 public:
  using ForwardingCommunicator::ForwardingCommunicator;

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

  std::unique_ptr<Work> start_all_reduce(const Call& c) override {
    note(c, "start all_reduce", std::string(name(c.op)));
    return std::make_unique<Started>(below().start_all_reduce(c), in_flight_);
  }
  std::unique_ptr<Work> start_broadcast(const Call& c) override {
    note(c, "start broadcast", fmt::format("from {}", c.root));
    return std::make_unique<Started>(below().start_broadcast(c), in_flight_);
  }
  void wait() override {
    below().wait();
    in_flight_ = 0;
  }

 protected:
  void perform(OperationId operation, const Call& call) override {
    const std::string text = note(call, std::string(name(operation)), how(operation, call));
    ForwardingCommunicator::perform(operation, call);
    after(text, call);
  }

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

  static std::string how(OperationId operation, const Call& call) {
    switch (operation) {
      case OperationId::all_reduce: return std::string(name(call.op));
      case OperationId::reduce: return fmt::format("{} to {}", name(call.op), call.root);
      case OperationId::broadcast: return fmt::format("from {}", call.root);
      case OperationId::gather: return fmt::format("to {}", call.root);
      default: return {};
    }
  }

  std::vector<std::string> operations_;
  int in_flight_ = 0, most_in_flight_ = 0;
};

}  // namespace ccl_tests::test
