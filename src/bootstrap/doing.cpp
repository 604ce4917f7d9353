#include "src/bootstrap/doing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <utility>

#include "src/bootstrap/control_frame.hpp"
#include "src/bootstrap/printable.hpp"
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

std::string to_text(const std::vector<Doing>& ranks) {
  std::vector<std::string> blobs;
  for (const Doing& d : ranks)
    blobs.push_back(fmt::format("{} {} {}", d.rank, d.steps, d.text.substr(0, most_text)));
  return pack(blobs);
}

std::vector<Doing> doing_of(std::string_view bytes) {
  std::vector<Doing> ranks;
  if (bytes.empty()) return ranks;
  for (const std::string& blob : unpack(bytes)) {
    std::string_view rest = blob;
    Doing d;
    d.rank = number<int>(rest);
    d.steps = number<std::uint64_t>(rest);
    d.text = printable(std::string(rest.substr(0, most_text)));
    ranks.push_back(std::move(d));
  }
  return ranks;
}

void DoingSource::set(std::function<std::vector<Doing>()> doing) {
  const std::lock_guard lock(mutex_);
  doing_ = std::move(doing);
}

std::string DoingSource::text() {
  const std::lock_guard lock(mutex_);
  return doing_ ? to_text(doing_()) : std::string();
}

std::string where_ranks_are(std::vector<Doing> ranks) {
  std::sort(ranks.begin(), ranks.end(),
            [](const Doing& a, const Doing& b) { return a.rank < b.rank; });
  struct Group {
    std::string text;
    std::map<std::uint64_t, std::vector<int>, std::greater<>> by_steps;
    std::size_t size = 0;
  };
  std::vector<Group> groups;
  for (const Doing& d : ranks) {
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](const Group& g) { return g.text == d.text; });
    if (found == groups.end()) found = groups.insert(groups.end(), {d.text, {}, 0});
    found->by_steps[d.steps].push_back(d.rank);
    ++found->size;
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.size > b.size; });
  std::string text;
  std::size_t shown = 0;
  for (const Group& group : groups) {
    const std::uint64_t most = group.by_steps.empty() ? 0 : group.by_steps.begin()->first;
    for (const auto& [steps, members] : group.by_steps) {
      if (++shown > most_groups) return text + "; and others";
      const std::string who = members.size() == ranks.size() && ranks.size() > 1
                                  ? fmt::format("all {} ranks", ranks.size())
                                  : named(members);
      if (!text.empty()) text += "; ";
      text += steps == most ? fmt::format("{} in {}", who, group.text)
                            : fmt::format("{} there, {} step{} behind", who, most - steps,
                                          most - steps == 1 ? "" : "s");
    }
  }
  return text;
}

}  // namespace ccl_tests
