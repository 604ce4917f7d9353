#include "src/job/open_communicators.hpp"

#include <utility>

#include "src/core/communicator.hpp"
#include "src/core/device.hpp"

namespace ccl_tests {

OpenCommunicators::OpenCommunicators() = default;
OpenCommunicators::~OpenCommunicators() = default;

Communicator& OpenCommunicators::add(std::unique_ptr<Communicator> communicator) {
  const std::lock_guard lock(mutex_);
  return *open_.emplace_back(std::move(communicator));
}

Device& OpenCommunicators::keep(std::unique_ptr<Device> device) {
  const std::lock_guard lock(mutex_);
  return *devices_.emplace_back(std::move(device));
}

void OpenCommunicators::close(Communicator& communicator) {
  std::unique_ptr<Communicator> closing;  // destroyed outside the lock: it may wait for its peers
  const std::lock_guard lock(mutex_);
  for (auto& c : open_) {
    if (c.get() == &communicator) closing = std::move(c);
  }
  std::erase(open_, nullptr);
}

void OpenCommunicators::abort_all() {
  const std::lock_guard lock(mutex_);
  for (const auto& c : open_) c->abort();
}

}  // namespace ccl_tests
