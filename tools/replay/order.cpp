#include "tools/replay/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

namespace ccl_tests::replay {
namespace {

using What = StreamKey::What;

StreamKey of_member(std::size_t group, int k) { return {group, What::collectives, k, k}; }
StreamKey own_key(const PlannedKind& kind) {
  if (!kind.is_message()) return of_member(kind.group, kind.self.rank);
  if (kind.sends) return {kind.group, What::sent, kind.self.rank, kind.peer};
  return {kind.group, What::received, kind.peer, kind.self.rank};
}

// The replays of all ranks, each as far as it comes.
class Replays {
 public:
  Replays(const std::vector<RankPlan>& ranks, const std::vector<JobGroup>& groups, bool buffered)
      : ranks_(ranks), groups_(groups), buffered_(buffered), steps_(ranks.size()) {
    for (const RankPlan& rank : ranks) ends_.push_back(ends_of_steps(rank));
  }

  // Lets ranks take turns in both directions: a chain that waits backwards is as fast as one that
  // waits forwards.
  void run() {
    for (bool moved = true; moved;) {
      moved = false;
      for (std::size_t r = 0; r < ranks_.size(); ++r) moved = advance(r) || moved;
      for (std::size_t r = ranks_.size(); r-- > 0;) moved = advance(r) || moved;
    }
  }

  std::string text() const {
    std::vector<std::size_t> path;
    std::size_t r = 0;
    while (r < ranks_.size() && is_at_end(r)) ++r;
    for (; r < ranks_.size() && std::ranges::find(path, r) == path.end(); r = awaited(r)->second) {
      if (is_at_end(r)) return {};  // its part of a call is left out
      path.push_back(r);
    }
    std::string text;
    for (auto at = std::ranges::find(path, r); at != path.end(); ++at) {
      const auto [kind, peer] = *awaited(*at);
      text +=
          fmt::format("{}rank {} waits for rank {} in its call {}, {}", text.empty() ? "" : "; ",
                      *at, peer, begin(*at) + 1, text_of(*kind, groups_[kind->group]));
    }
    return text;
  }

 private:
  bool is_at_end(std::size_t r) const { return steps_[r] == 2 * ends_[r].size(); }
  std::size_t begin(std::size_t r) const { return steps_[r] < 2 ? 0 : ends_[r][steps_[r] / 2 - 1]; }
  template <class F>
  void each(std::size_t r, const F& f) const {
    for (std::size_t k = begin(r); k < ends_[r][steps_[r] / 2]; ++k)
      f(ranks_[r].kinds[ranks_[r].calls[k].kind]);
  }
  std::size_t begun(const StreamKey& key) const {
    const auto at = begun_.find(key);
    return at == begun_.end() ? 0 : at->second;
  }

  // Returns whether the rank has begun or ended a step.
  bool advance(std::size_t r) {
    const std::size_t before = steps_[r];
    for (; !is_at_end(r) && (steps_[r] % 2 == 0 || !awaited(r)); ++steps_[r]) {
      if (steps_[r] % 2 != 0) continue;
      each(r, [&](const PlannedKind& kind) {
        const std::size_t number = begun_[own_key(kind)]++;
        if (kind.is_message()) return;
        std::vector<int>& arrived = arrived_[kind.group];
        arrived.resize(std::max(arrived.size(), number + 1));
        ++arrived[number];
      });
    }
    return steps_[r] != before;
  }

  // Returns a call of the rank's step that cannot end yet, and a rank that has not begun as many.
  std::optional<std::pair<const PlannedKind*, std::size_t>> awaited(std::size_t r) const {
    std::optional<std::pair<const PlannedKind*, std::size_t>> found;
    each(r, [&](const PlannedKind& kind) {
      const std::size_t g = kind.group, number = begun(own_key(kind));
      const auto wait_for = [&](const StreamKey& key, int member) {
        if (!found && begun(key) < number)
          found = {&kind, groups_[g].members[static_cast<std::size_t>(member)]};
      };
      const int me = kind.self.rank, peer = kind.peer;
      if (kind.is_message() && !kind.sends) return wait_for({g, What::sent, peer, me}, peer);
      if (kind.is_message() && buffered_) return;
      if (kind.is_message()) return wait_for({g, What::received, me, peer}, peer);
      const bool has_data = kind.operation == OperationId::barrier || kind.bytes() > 0;
      if (buffered_ && !has_data) return;
      if (buffered_ && sent_by_root.has(kind.operation))
        return wait_for(of_member(g, kind.root), kind.root);
      const bool receives = !received_by_root.has(kind.operation) || me == kind.root;
      const bool from_all = std::ranges::find(kind.recv_counts, 0U) == kind.recv_counts.end();
      if (buffered_ && !(receives && from_all)) return;
      if (arrived_.at(g)[number - 1] == groups_[g].ranks()) return;
      for (int k = 0; k < groups_[g].ranks(); ++k) wait_for(of_member(g, k), k);
    });
    return found;
  }

  const std::vector<RankPlan>& ranks_;
  const std::vector<JobGroup>& groups_;
  bool buffered_;
  std::vector<std::vector<std::uint32_t>> ends_;  // of each rank's steps
  std::vector<std::size_t> steps_;  // of each rank: twice those that have ended, 1 more in one
  std::map<StreamKey, std::size_t> begun_;           // calls
  std::map<std::size_t, std::vector<int>> arrived_;  // ranks, by group and number
};

}  // namespace

std::string text_of(const PlannedKind& kind, const JobGroup& group) {
  const std::string_view what = !kind.is_message() ? name(kind.operation)
                                : kind.sends       ? "send"
                                                   : "recv";
  std::string text =
      fmt::format("{} of {} {}, {}", what, kind.count, name(kind.type), group.text());
  if (kind.is_message()) text += fmt::format(", group rank {}", kind.peer);
  return text;
}

std::vector<std::uint32_t> ends_of_steps(const RankPlan& plan) {
  std::vector<std::uint32_t> ends;
  const PlannedKind* before = nullptr;
  for (std::uint32_t at = 0; at < plan.calls.size(); ++at) {
    const PlannedKind& kind = plan.kinds[plan.calls[at].kind];
    const bool together = before != nullptr && before->is_message() && kind.is_message() &&
                          before->group == kind.group;
    if (together) ends.pop_back();
    ends.push_back(at + 1);
    before = &kind;
  }
  return ends;
}

std::string cycle(const std::vector<RankPlan>& ranks, const std::vector<JobGroup>& groups,
                  bool buffered) {
  Replays replays(ranks, groups, buffered);
  replays.run();
  return replays.text();
}

}  // namespace ccl_tests::replay
