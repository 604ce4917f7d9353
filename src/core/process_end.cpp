#include "src/core/process_end.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace ccl_tests {

void leave_to_process_end(std::shared_ptr<void> thing) {
  static auto* const mutex = new std::mutex;
  static auto* const all = new std::vector<std::shared_ptr<void>>;
  const std::lock_guard lock(*mutex);
  all->push_back(std::move(thing));
}

}  // namespace ccl_tests
