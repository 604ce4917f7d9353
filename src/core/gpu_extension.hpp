// The abilities that only libraries for GPUs have.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "src/core/device.hpp"

namespace ccl_tests {

// Operations that were captured, to be issued together as often as wanted.
class Graph {
 public:
  virtual ~Graph() = default;
  virtual void launch() = 0;  // may return before they are complete
};

// Marks between a communicator's operations.
class Timeline {
 public:
  virtual ~Timeline() = default;
  virtual void mark() = 0;  // behind all that has been issued
  // Returns the seconds from each mark to the next. All operations have been waited for. In a
  // graph: of its last launch.
  virtual std::vector<double> intervals() const = 0;
};

// A buffer that the library knows of, until this is destroyed.
class Registration {
 public:
  virtual ~Registration() = default;
};

// A communicator's functions beside its operations, if its library works on GPUs.
class GpuExtension {
 public:
  virtual ~GpuExtension() = default;

  // Returns a timeline with room for `marks` marks.
  virtual std::unique_ptr<Timeline> timeline(std::size_t marks) = 0;

  // Returns what issue() issues, as a graph. Nothing of it runs before launch(). issue() may mark a
  // timeline. Collective where the operations are.
  virtual std::unique_ptr<Graph> capture(const std::function<void()>& issue) = 0;

  // Returns memory that the library wants its buffers in. Null data: any memory of the rank's
  // device will do.
  virtual Buffer allocate(std::size_t /*bytes*/) { return {}; }

  // Registers a buffer as BackendOptions ask. Returns null if they do not ask for it. Collective.
  virtual std::unique_ptr<Registration> register_buffer(std::byte* /*data*/,
                                                        std::size_t /*bytes*/) {
    return nullptr;
  }

  // Operations between these two do not need each other. A library that can issues them as one.
  virtual void begin_aggregate() {}
  virtual void end_aggregate() {}

  // Returns what the library chose for the operations since the last call (algorithm, protocol,
  // ...). Empty if the library does not say.
  virtual std::string last_algorithm() { return {}; }

  // Tells profilers that a row begins.
  virtual void annotate(const std::string& /*row*/) {}
};

}  // namespace ccl_tests
