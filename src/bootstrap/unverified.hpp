// Connections that have not yet proved that they belong to the job. Those that take too long, or are
// too many, are closed.
// Only for .cpp files: includes Asio.
#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>

#include <cstddef>
#include <functional>
#include <list>
#include <string>

#include "src/bootstrap/deadline.hpp"

namespace ccl_tests {

// What connections may do that have not yet proved that they belong to the job.
struct UnverifiedLimits {
  double limit_s = 10;     // so long each may take
  std::size_t most = 128;  // at least 1; of more than these, the oldest are closed at once
};

// For a job all of whose processes may come at the same moment.
inline UnverifiedLimits unverified_beside(int processes) {
  return {10, 128 + static_cast<std::size_t>(processes)};
}

// Used on the thread of its io_context only.
class UnverifiedConnections {
 public:
  using Close = std::function<void(const std::string& why)>;
  struct Entry {
    TimePoint until;
    Close close;
  };
  using Place = std::list<Entry>::iterator;

  UnverifiedConnections(asio::io_context& io, UnverifiedLimits limits)
      : timer_(io), limits_(limits) {}

  // Calls `close` when the connection's time is over. Its place is invalid by then.
  Place add(Close close);
  void passed(Place place) { entries_.erase(place); }

  // For want of descriptors, say. False when there is none.
  bool close_oldest(const std::string& why);
  void close_all(const std::string& why) {
    while (close_oldest(why)) {
    }
  }

 private:
  void watch();

  asio::steady_timer timer_;  // runs only while there is somebody to watch
  UnverifiedLimits limits_;
  std::list<Entry> entries_;  // the oldest first
  bool watching_ = false;
};

}  // namespace ccl_tests
