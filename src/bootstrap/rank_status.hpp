// The doings of ranks, as they tell them with each sign of life: for the message of a wait that
// reached its limit.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ccl_tests {

struct RankStatus {
  int rank = 0;
  // Calls of the library and waits for calls, since `text` is true: 2k - 1 inside the k-th, 2k behind it.
  std::uint64_t position = 0;
  std::string text;  // "all_reduce float sum, 65536 B, in place, timed calls"
};

std::string to_text(std::vector<RankStatus> ranks);
// Throws Error on anything malformed. Texts have no control characters.
std::vector<RankStatus> statuses_of(std::string_view bytes);

// Returns whether any of them is inside a call of the library, or waits for one.
bool any_in_a_call(const std::vector<RankStatus>& ranks);

// Says in one line where the ranks are. Ranks at the same place stand together. Empty for nobody. everybody: these are all
// ranks of the job; some may have fallen silent before they told anything.
// Examples: "all 4 ranks inside the same call: X"; "ranks 0 and 2 inside X; rank 1 has not entered it".
std::string where_ranks_are(std::vector<RankStatus> ranks, bool everybody = true);

// Returns the ranks that others seem to wait for, ascending: they do something else than most ranks do, or come
// behind those that do the same. None if all are at one place.
std::vector<int> late_ranks(std::vector<RankStatus> ranks);

// Returns "rank 2", "ranks 0, 1 and 3", "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 92 more".
std::string ranks_text(const std::vector<int>& ranks);

}  // namespace ccl_tests
