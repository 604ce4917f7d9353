// Two ranks that send messages to each other.
#pragma once

#include <string>
#include <utility>

namespace ccl_tests {

using RankPair = std::pair<int, int>;  // the first one sends first

inline std::string name(const RankPair& pair) {  // "0:1"
  return std::to_string(pair.first) + ':' + std::to_string(pair.second);
}

}  // namespace ccl_tests
