// Beside the library under test: how the ranks of a job agree on anything.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ccl {

// One rank's end of the control plane. Ranks that are threads of one process share that process's
// connection.
class Bootstrap {
 public:
  virtual ~Bootstrap() = default;
  virtual int rank() const = 0;
  virtual int ranks() const = 0;

  // All-gather of bytes: every rank's `bytes`, in rank order. Collective; completes within
  // `limit_s` seconds or throws Timeout naming the ranks that did not come; throws Error when a
  // rank is gone.
  virtual std::vector<std::string> exchange(std::string_view bytes, double limit_s) = 0;
};

}  // namespace ccl
