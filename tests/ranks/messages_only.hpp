// A backend that has messages and nothing else.
#pragma once

#include <memory>

#include "src/backends/loopback.hpp"

namespace ccl_tests::test {

class MessagesOnly : public Communicator {
 public:
  explicit MessagesOnly(std::unique_ptr<Communicator> loopback) : loopback_(std::move(loopback)) {}
  void transfer(std::span<Message> messages, Deadline& deadline) override {
    loopback_->transfer(messages, deadline);
  }

 private:
  std::unique_ptr<Communicator> loopback_;
};

class MessagesOnlyBackend : public LoopbackBackend {
 public:
  std::unique_ptr<Communicator> connect(ControlChannel& channel,
                                        const BackendOptions& options) const override {
    return std::make_unique<MessagesOnly>(LoopbackBackend::connect(channel, options));
  }
};

}  // namespace ccl_tests::test
