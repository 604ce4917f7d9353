#include "verify/coverage.hpp"

#include <algorithm>
#include <deque>
#include <vector>

namespace ccl::verify {
namespace {

// A run of elements that grows at its end and shrinks at its start, and whose loss shows in it.
class Window {
 public:
  explicit Window(const Inputs& inputs)
      : inputs_(inputs), times_(static_cast<std::size_t>(inputs.ranks())) {}

  bool complete() const { return covered_ == times_.size(); }
  std::size_t covered() const { return covered_; }
  std::size_t length() const { return shown_.size(); }

  void grow(std::size_t element) {
    shown_.push_back(inputs_.ranks_shown(element % inputs_.period()));
    for (const int rank : shown_.back()) {
      if (times_[static_cast<std::size_t>(rank)]++ == 0) ++covered_;
    }
  }
  void shrink() {
    for (const int rank : shown_.front()) {
      if (--times_[static_cast<std::size_t>(rank)] == 0) --covered_;
    }
    shown_.pop_front();
  }

 private:
  const Inputs& inputs_;
  std::vector<std::size_t> times_;  // elements of the window that show a rank's loss
  std::deque<std::vector<int>> shown_;
  std::size_t covered_ = 0;
};

}  // namespace

double coverage(const Inputs& inputs, std::size_t start, std::size_t count) {
  if (inputs.always_shown() && count > 0) return 1;
  Window window(inputs);
  const std::size_t elements = std::min(count, inputs.period());
  while (window.length() < elements && !window.complete()) window.grow(start + window.length());
  return static_cast<double>(window.covered()) / inputs.ranks();
}

std::size_t complete_from(const Inputs& inputs, std::size_t starts) {
  if (inputs.always_shown()) return 1;
  Window window(inputs);
  std::size_t needed = 1;
  for (std::size_t start = 0; start < starts; ++start) {
    while (!window.complete()) {
      if (window.length() == inputs.period()) return 0;
      window.grow(start + window.length());
    }
    needed = std::max(needed, window.length());
    window.shrink();
  }
  return needed;
}

}  // namespace ccl::verify
