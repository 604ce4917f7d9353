#include "src/bootstrap/rank_status.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "src/bootstrap/control_frame.hpp"
#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

constexpr std::size_t most_text = 200;
constexpr std::size_t most_groups = 6;

// "rank 2", "ranks 0, 1 and 3", "ranks 0, 1, 2, 3, 4, 5, 6, 7 and 92 more".
std::string named(const std::vector<int>& ranks) {
  constexpr std::size_t shown = 8;
  if (ranks.size() == 1) return fmt::format("rank {}", ranks.front());
  std::string text = fmt::format("ranks {}", ranks.front());
  const bool all = ranks.size() <= shown + 1;
  for (std::size_t k = 1; k < (all ? ranks.size() - 1 : shown); ++k)
    text += fmt::format(", {}", ranks[k]);
  return text + (all ? fmt::format(" and {}", ranks.back())
                     : fmt::format(" and {} more", ranks.size() - shown));
}

struct Group {
  std::string text;
  std::map<std::uint64_t, std::vector<int>, std::greater<>> by_position;
  std::size_t size = 0;

  std::uint64_t first() const { return by_position.begin()->first; }
};

bool inside(std::uint64_t position) { return position % 2 == 1; }

// Of those in `group` that have come farthest. everybody: they are all ranks of the job.
std::string first_text(const Group& group, bool everybody, bool another) {
  const std::vector<int>& members = group.by_position.begin()->second;
  const std::string who = everybody ? fmt::format("all {} ranks", members.size()) : named(members);
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

// Of those behind them, which are in, or before, the call that the first ones are in, or have left.
std::string later_text(const std::vector<int>& members, std::uint64_t position,
                       std::uint64_t first) {
  const bool one = members.size() == 1;
  const std::uint64_t calls_before = (first + 1) / 2 - (position + 1) / 2;
  if (!inside(position)) {
    const std::string also =
        calls_before > 1 ? fmt::format(", nor the {} before it", calls_before - 1) : "";
    return fmt::format("{} {} not entered it{}", named(members), one ? "has" : "have", also);
  }
  const std::string who = fmt::format("{} {} inside", named(members), one ? "is" : "are");
  if (calls_before == 0) return who + " it";
  return fmt::format("{} an earlier one, {} before it", who, calls_before);
}

template <class T>
T number(std::string_view& bytes) {
  T value{};
  const auto [end, error] = std::from_chars(bytes.data(), bytes.data() + bytes.size(), value);
  const auto length = static_cast<std::size_t>(end - bytes.data());
  if (error != std::errc() || length == bytes.size() || *end != ' ')
    throw Error("a rank said nonsense of what it does");
  bytes.remove_prefix(length + 1);
  return value;
}

}  // namespace

std::string to_text(const std::vector<RankStatus>& ranks) {
  std::vector<std::string> blobs;
  for (const RankStatus& d : ranks)
    blobs.push_back(fmt::format("{} {} {}", d.rank, d.position, d.text.substr(0, most_text)));
  return pack(blobs);
}

std::vector<RankStatus> statuses_of(std::string_view bytes) {
  std::vector<RankStatus> ranks;
  if (bytes.empty()) return ranks;
  for (const std::string& blob : unpack(bytes)) {
    std::string_view rest = blob;
    RankStatus d;
    d.rank = number<int>(rest);
    d.position = number<std::uint64_t>(rest);
    d.text = printable(std::string(rest.substr(0, most_text)));
    ranks.push_back(std::move(d));
  }
  return ranks;
}

bool any_in_a_call(const std::vector<RankStatus>& ranks) {
  return std::any_of(ranks.begin(), ranks.end(),
                     [](const RankStatus& d) { return inside(d.position); });
}

void StatusSource::set(std::function<std::vector<RankStatus>()> statuses) {
  const std::lock_guard lock(mutex_);
  statuses_ = std::move(statuses);
}

std::vector<RankStatus> StatusSource::now() {
  const std::lock_guard lock(mutex_);
  return statuses_ ? statuses_() : std::vector<RankStatus>();
}

std::string where_ranks_are(std::vector<RankStatus> ranks, bool everybody) {
  std::sort(ranks.begin(), ranks.end(),
            [](const RankStatus& a, const RankStatus& b) { return a.rank < b.rank; });
  std::vector<Group> groups;
  for (const RankStatus& d : ranks) {
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& g) { return g.text == d.text; });
    if (found == groups.end()) found = groups.insert(groups.end(), {d.text, {}, 0});
    found->by_position[d.position].push_back(d.rank);
    ++found->size;
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.size > b.size; });
  std::string text;
  std::size_t shown = 0;
  for (const Group& group : groups) {
    const bool another = &group != &groups.front();
    for (const auto& [position, members] : group.by_position) {
      if (++shown > most_groups) return text + "; and others";
      if (!text.empty()) text += "; ";
      const bool all = everybody && members.size() == ranks.size() && ranks.size() > 1;
      text += position == group.first() ? first_text(group, all, another)
                                        : later_text(members, position, group.first());
    }
  }
  return text;
}

}  // namespace ccl_tests
