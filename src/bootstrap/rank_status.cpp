#include "src/bootstrap/rank_status.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "src/bootstrap/control_frame.hpp"
#include "src/core/serialize.hpp"

namespace ccl_tests {
namespace {

constexpr std::size_t most_text = 200;
constexpr std::size_t most_groups = 6;

struct Group {
  std::string text;
  std::map<std::uint64_t, std::vector<int>, std::greater<>> by_position;
  std::size_t size = 0;

  std::uint64_t first() const { return by_position.begin()->first; }
};

bool inside(std::uint64_t position) { return position % 2 == 1; }

// Names those in `group` that have come farthest. everybody: they are all ranks of the job.
std::string first_text(const Group& group, bool everybody, bool another) {
  const std::vector<int>& members = group.by_position.begin()->second;
  const std::string who =
      everybody ? fmt::format("all {} ranks", members.size()) : ranks_text(members);
  if (group.first() == 0) return fmt::format("{} in {}", who, group.text);
  if (inside(group.first())) {
    if (everybody) return fmt::format("{} inside the same call: {}", who, group.text);
    return fmt::format("{} {}inside {}", who, another ? "in another call, " : "", group.text);
  }
  if (group.by_position.size() == 1)
    return fmt::format("{} in {}, outside the library", who, group.text);
  return fmt::format("{} {} left a call of {}", who, members.size() == 1 ? "has" : "have",
                     group.text);
}

// Names those behind them, which are in, or before, the call that the first ones are in, or have
// left.
std::string later_text(const std::vector<int>& members, std::uint64_t position,
                       std::uint64_t first) {
  const bool one = members.size() == 1;
  const std::uint64_t calls_before = (first + 1) / 2 - (position + 1) / 2;
  if (!inside(position)) {
    const std::string also =
        calls_before > 1 ? fmt::format(", nor the {} before it", calls_before - 1) : "";
    return fmt::format("{} {} not entered it{}", ranks_text(members), one ? "has" : "have", also);
  }
  const std::string who = fmt::format("{} {} inside", ranks_text(members), one ? "is" : "are");
  if (calls_before == 0) return who + " it";
  return fmt::format("{} an earlier one, {} before it", who, calls_before);
}

// Returns the ranks by what they do, the largest group first.
std::vector<Group> groups_of(std::vector<RankStatus> ranks) {
  std::sort(ranks.begin(), ranks.end(),
            [](const RankStatus& a, const RankStatus& b) { return a.rank < b.rank; });
  std::vector<Group> groups;
  for (const RankStatus& one : ranks) {
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& g) { return g.text == one.text; });
    if (found == groups.end()) found = groups.insert(groups.end(), {one.text, {}, 0});
    found->by_position[one.position].push_back(one.rank);
    ++found->size;
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.size > b.size; });
  return groups;
}

}  // namespace

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankStatus, rank, position, text)

std::string to_text(std::vector<RankStatus> ranks) {
  for (RankStatus& one : ranks) one.text.resize(std::min(one.text.size(), most_text));
  return to_bytes(ranks);
}

std::vector<RankStatus> statuses_of(std::string_view bytes) {
  if (bytes.empty()) return {};
  auto ranks = from_bytes<std::vector<RankStatus>>(bytes);
  for (RankStatus& one : ranks) one.text = printable(one.text.substr(0, most_text));
  return ranks;
}

bool any_in_a_call(const std::vector<RankStatus>& ranks) {
  return std::any_of(ranks.begin(), ranks.end(),
                     [](const RankStatus& d) { return inside(d.position); });
}

std::string where_ranks_are(std::vector<RankStatus> ranks, bool everybody) {
  const std::size_t number = ranks.size();
  const std::vector<Group> groups = groups_of(std::move(ranks));
  std::string text;
  std::size_t shown = 0;
  for (const Group& group : groups) {
    const bool another = &group != &groups.front();
    for (const auto& [position, members] : group.by_position) {
      if (++shown > most_groups) return text + "; and others";
      if (!text.empty()) text += "; ";
      const bool all = everybody && members.size() == number && number > 1;
      text += position == group.first() ? first_text(group, all, another)
                                        : later_text(members, position, group.first());
    }
  }
  return text;
}

std::vector<int> late_ranks(std::vector<RankStatus> ranks) {
  const std::vector<Group> groups = groups_of(std::move(ranks));
  std::vector<int> late;
  for (const Group& group : groups) {
    const bool is_one_of_the_largest = group.size == groups.front().size;
    for (const auto& [position, members] : group.by_position)
      if (!is_one_of_the_largest || position != group.first())
        late.insert(late.end(), members.begin(), members.end());
  }
  std::sort(late.begin(), late.end());
  return late;
}

std::string ranks_text(const std::vector<int>& ranks) {
  constexpr std::size_t shown = 8;
  if (ranks.size() == 1) return fmt::format("rank {}", ranks.front());
  const bool all = ranks.size() <= shown + 1;
  const auto last = ranks.begin() + (all ? static_cast<int>(ranks.size()) - 1 : shown);
  return fmt::format(
      "ranks {} and {}", fmt::join(ranks.begin(), last, ", "),
      all ? std::to_string(ranks.back()) : fmt::format("{} more", ranks.size() - shown));
}

}  // namespace ccl_tests
