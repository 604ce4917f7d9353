#include "src/devices/process_memory.hpp"

#include <unistd.h>

#include <fstream>

namespace ccl_tests {

std::size_t resident_bytes() {
  std::size_t size = 0, resident = 0;  // pages
  std::ifstream("/proc/self/statm") >> size >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace ccl_tests
