// Where the data of a row's timed calls come from (--cache).
#pragma once

#include <string_view>

namespace ccl_tests {

// warm: the L2 cache. rotate: memory beyond the L2 cache. cold: memory beyond the last-level cache.
enum class CacheUse { warm, rotate, cold };

constexpr std::string_view name(CacheUse use) {
  switch (use) {
    case CacheUse::warm: return "warm";
    case CacheUse::rotate: return "rotate";
    case CacheUse::cold: return "cold";
  }
  return {};
}

}  // namespace ccl_tests
