// Connections that have yet to prove themselves: those that take too long, or are too many, go.
// Only for .cpp files: includes Asio.
#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <list>
#include <string>

#include "src/bootstrap/deadline.hpp"
#include "src/bootstrap/probation_limits.hpp"

namespace ccl_tests {

// Used on the thread of its io_context only.
class Probation {
 public:
  using Dismiss = std::function<void(const std::string& why)>;
  struct Entry {
    TimePoint until;
    Dismiss dismiss;
  };
  using Place = std::list<Entry>::iterator;

  Probation(asio::io_context& io, ProbationLimits limits) : timer_(io), limits_(limits) {}

  // `dismiss` is called when it is over for the connection; its place is no more by then.
  Place add(Dismiss dismiss);
  void passed(Place place) { entries_.erase(place); }

  // For want of descriptors, say. False when there is none.
  bool dismiss_oldest(const std::string& why);
  void dismiss_all(const std::string& why) {
    while (dismiss_oldest(why)) {
    }
  }

 private:
  void watch();

  asio::steady_timer timer_;  // runs only while there is somebody to watch
  ProbationLimits limits_;
  std::list<Entry> entries_;  // the oldest first
  bool watching_ = false;
};

}  // namespace ccl_tests
