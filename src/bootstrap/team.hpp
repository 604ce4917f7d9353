// Some of a job's processes, which exchange among themselves.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ccl_tests {

struct Team {
  std::string name = {};            // one team's in the whole job; empty: all processes
  std::vector<int> processes = {};  // ascending, without repetition; of a named team
  int root = 0;                     // the process of the team's rank 0
};

// The kinds of calls that the control plane carries between the processes of a job.
enum class ExchangeKind : std::uint8_t { all_gather, gather, broadcast };

constexpr std::string_view name_of(ExchangeKind kind) {
  switch (kind) {
    case ExchangeKind::all_gather: return "all_gather";
    case ExchangeKind::gather: return "gather";
    case ExchangeKind::broadcast: return "broadcast";
  }
  return "an unknown call";
}

}  // namespace ccl_tests
