#include "tools/replay/order.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace ccl_tests::replay {
namespace {

using What = StreamKey::What;

OrderedCall ordered(const PlannedKind& kind, const JobGroup& group) {
  const int me = kind.self.rank, peer = kind.peer;
  const auto member = [&](int k) { return StreamKey{kind.group, What::collectives, k, k}; };
  OrderedCall call{.own = member(me), .text = text_of(kind, group)};
  if (kind.is_message() && kind.sends) {
    call.own = {kind.group, What::sent, me, peer};
  } else if (kind.is_message()) {
    call.own = {kind.group, What::received, peer, me};
    call.awaited = {kind.group, What::sent, peer, me};
  } else if (sent_by_root.has(kind.operation) && kind.bytes() > 0) {
    call.awaited = member(kind.root);
  } else {
    const bool receives = !received_by_root.has(kind.operation) || me == kind.root;
    const bool from_all = std::ranges::find(kind.recv_counts, 0U) == kind.recv_counts.end();
    call.awaits_all =
        kind.operation == OperationId::barrier || (receives && from_all && kind.bytes() > 0);
  }
  return call;
}

// The replays of all ranks, each as far as it comes.
class Replays {
 public:
  Replays(const std::vector<RankOrder>& ranks, const std::vector<JobGroup>& groups, bool buffered)
      : ranks_(ranks), groups_(groups), buffered_(buffered), steps_(ranks.size()) {}

  // Lets ranks take turns in both directions: a chain that waits backwards is as fast as one that waits forwards.
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
      const auto [call, peer] = *awaited(*at);
      text += fmt::format("{}rank {} waits for rank {} in its call {}, {}",
                          text.empty() ? "" : "; ", *at, peer, begin(*at) + 1, call->text);
    }
    return text;
  }

 private:
  bool is_at_end(std::size_t r) const { return steps_[r] == 2 * ranks_[r].ends.size(); }
  std::size_t begin(std::size_t r) const {
    return steps_[r] < 2 ? 0 : ranks_[r].ends[steps_[r] / 2 - 1];
  }
  template <class F>
  void each(std::size_t r, const F& f) const {
    for (std::size_t k = begin(r); k < ranks_[r].ends[steps_[r] / 2]; ++k)
      f(ranks_[r].kinds[ranks_[r].calls[k]]);
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
      each(r, [&](const OrderedCall& call) {
        const std::size_t number = begun_[call.own]++;
        if (call.own.what != What::collectives) return;
        std::vector<std::size_t>& arrived = arrived_[call.own.group];
        arrived.resize(std::max(arrived.size(), number + 1));
        ++arrived[number];
      });
    }
    return steps_[r] != before;
  }

  // Returns a call of the rank's step that cannot end yet, and a rank that it waits for.
  std::optional<std::pair<const OrderedCall*, std::size_t>> awaited(std::size_t r) const {
    std::optional<std::pair<const OrderedCall*, std::size_t>> found;
    each(r, [&](const OrderedCall& call) {
      const std::size_t group = call.own.group, number = begun(call.own);
      const auto wait_for = [&](StreamKey key) {
        const int member = key.what == What::received ? key.to : key.from;
        if (!found && begun(key) < number)
          found = {&call, groups_[group].members[static_cast<std::size_t>(member)]};
      };
      if (call.awaited) wait_for(*call.awaited);
      if (!buffered_ && call.own.what == What::sent)
        wait_for({group, What::received, call.own.from, call.own.to});
      const bool all = call.awaits_all || (!buffered_ && call.own.what == What::collectives);
      const int members = groups_[group].ranks();
      if (!all || arrived_.at(group)[number - 1] == static_cast<std::size_t>(members)) return;
      for (int k = 0; k < members; ++k) wait_for({group, What::collectives, k, k});
    });
    return found;
  }

  const std::vector<RankOrder>& ranks_;
  const std::vector<JobGroup>& groups_;
  bool buffered_;
  std::vector<std::size_t> steps_;  // of each rank: twice those that have ended, 1 more in one
  std::map<StreamKey, std::size_t> begun_;                   // calls
  std::map<std::size_t, std::vector<std::size_t>> arrived_;  // ranks, by group and number
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

RankOrder order_of(const RankPlan& plan, const std::vector<JobGroup>& groups) {
  RankOrder order{.ends = ends_of_steps(plan)};
  for (const PlannedKind& kind : plan.kinds)
    order.kinds.push_back(kind.lost.empty() ? ordered(kind, groups[kind.group]) : OrderedCall());
  for (const PlannedCall& call : plan.calls) order.calls.push_back(call.kind);
  return order;
}

std::string cycle(const std::vector<RankOrder>& ranks, const std::vector<JobGroup>& groups,
                  bool buffered) {
  Replays replays(ranks, groups, buffered);
  replays.run();
  return replays.text();
}

}  // namespace ccl_tests::replay
