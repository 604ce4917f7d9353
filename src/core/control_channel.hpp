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

  // Returns every rank's `bytes`, in rank order. Collective over all ranks here. Completes within
  // `limit_s` seconds (0: no limit) or throws Timeout naming the ranks that did not come. Throws
  // Error if a rank is gone, or if ranks make different calls.
  virtual std::vector<std::string> all_gather(std::string_view bytes, double limit_s) = 0;

  // Returns every rank's `bytes`, in rank order, on rank 0, and nothing on the others. These do not
  // wait, and throw a failure that is known already. Collective over all ranks here; rank 0's wait
  // ends as that of all_gather.
  virtual std::vector<std::string> gather(std::string_view bytes, double limit_s) = 0;

  // Returns rank 0's `bytes` on every rank; what other ranks give is ignored. Collective over all
  // ranks here; the wait ends as that of all_gather.
  virtual std::string broadcast(std::string_view bytes, double limit_s) = 0;

  // Returns when every rank here has called it. Throws as all_gather does.
  void barrier(double limit_s) {
    gather({}, limit_s);
    broadcast({}, limit_s);
  }

  // The ranks that give the same color, ordered by key and then by their rank here, with ranks of
  // their own from 0 on; null with a color below 0. Collective over all ranks here. The group may
  // outlive this object.
  virtual std::unique_ptr<ControlChannel> split(int color, int key, double limit_s) = 0;

  // Returns the addresses of this host at which this process's connections of the control plane to
  // other hosts end, as numbers ("10.0.0.7"): in process 0 several, else at most one.
  virtual std::vector<std::string> local_addresses() const { return {}; }
};

}  // namespace ccl_tests
