// Beside the library under test: how the ranks of a job agree on anything.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace ccl_tests {

// One rank's end of the control plane. Ranks that are threads of one process share that process's
// connection.
class ControlChannel {
 public:
  virtual ~ControlChannel() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;

  // All-gather of bytes: every rank's `bytes`, in rank order. Collective; completes within
  // `limit_s` seconds or throws Timeout naming the ranks that did not come; throws Error when a
  // rank is gone.
  virtual std::vector<std::string> all_gather(std::string_view bytes, double limit_s) = 0;

  // The ranks that give the same color, ordered by key and then by their rank here, with ranks of
  // their own from 0 on; null with a color below 0. Collective over all ranks here. The group may
  // outlive this object.
  virtual std::unique_ptr<ControlChannel> split(int color, int key, double limit_s) = 0;
};

}  // namespace ccl_tests
