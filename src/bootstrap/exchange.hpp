// The kinds of calls that the control plane carries between the processes of a job.
#pragma once

#include <cstdint>
#include <string_view>

namespace ccl_tests {

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
