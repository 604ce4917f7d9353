#include "src/bootstrap/job_check.hpp"

#include <fmt/format.h>

namespace ccl_tests {

std::string join_names(const std::vector<std::string>& names) {
  constexpr std::size_t shown = 16;
  std::string out;
  for (std::size_t i = 0; i < names.size() && i < shown; ++i) {
    out += (i == 0 ? "" : ", ") + names[i];
  }
  if (names.size() > shown) out += fmt::format(" and {} more", names.size() - shown);
  return out;
}

std::string disagreement(const Hello& self, const Hello& hello) {
  if (hello.version != self.version) {
    return fmt::format("{} runs version {}, {} runs version {}", self.name(), self.version,
                       hello.name(), hello.version);
  }
  if (hello.processes != self.processes) {
    return fmt::format("{} was started with WORLD_SIZE={}, {} with WORLD_SIZE={}", self.name(),
                       self.processes, hello.name(), hello.processes);
  }
  if (hello.ranks_per_process != self.ranks_per_process) {
    return fmt::format("{} has {} ranks in its process, {} has {}", self.name(),
                       self.ranks_per_process, hello.name(), hello.ranks_per_process);
  }
  if (hello.process < 0 || hello.process >= self.processes) {
    return fmt::format("{} is beyond WORLD_SIZE={}", hello.name(), self.processes);
  }
  return {};
}

std::string twice(const Hello& a, const Hello& b) {
  return fmt::format(
      "{} {} twice: on {} (pid {}) and on {} (pid {}): started twice, or two jobs on one "
      "MASTER_PORT",
      a.ranks(), a.ranks_per_process == 1 ? "exists" : "exist", a.host, a.pid, b.host, b.pid);
}

}  // namespace ccl_tests
