#include "tools/replay/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"

namespace ccl_tests::replay {
namespace {

// "0-3", "0,2,5".
std::string ranges_text(const std::vector<int>& ranks) {
  std::string text;
  for (std::size_t k = 0; k < ranks.size();) {
    std::size_t end = k + 1;
    while (end < ranks.size() && ranks[end] == ranks[end - 1] + 1) ++end;
    text += fmt::format("{}{}", text.empty() ? "" : ",", ranks[k]);
    if (end > k + 1) text += fmt::format("-{}", ranks[end - 1]);
    k = end;
  }
  return text;
}

// A group whose members no trace lists: those whose traces have its name, by their place in it if they know it.
JobGroup gathered(const std::string& name, const std::vector<std::vector<TracedGroup>>& traces) {
  JobGroup group{.name = name};
  std::vector<std::pair<int, int>> found;  // place, rank of the job
  bool all_know = true;
  for (std::size_t r = 0; r < traces.size(); ++r)
    for (const TracedGroup& one : traces[r])
      if (one.name == name) {
        group.traced_ranks = std::max(group.traced_ranks, one.size);
        if (group.about.empty()) group.about = one.about;
        all_know = all_know && one.rank >= 0;
        found.emplace_back(one.rank, static_cast<int>(r));
      }
  if (all_know) std::sort(found.begin(), found.end());
  for (const auto& [place, rank] : found) {
    group.was.push_back(all_know ? place : static_cast<int>(group.was.size()));
    group.members.push_back(rank);
  }
  group.traced_ranks = std::max(group.traced_ranks, group.ranks());
  for (std::size_t k = 1; k < group.was.size(); ++k)
    if (group.was[k] == group.was[k - 1])
      group.unusable =
          fmt::format("two traces say that they are rank {} of their group", group.was[k]);
  return group;
}

// Throws Error if a member of a listed group lists other members, or others in another order.
void require_same_members(const std::vector<std::vector<TracedGroup>>& traces) {
  std::map<std::pair<std::string, int>, const std::vector<int>*> own;  // by group and rank
  for (std::size_t r = 0; r < traces.size(); ++r)
    for (const TracedGroup& group : traces[r])
      if (!group.members.empty()) own[{group.name, static_cast<int>(r)}] = &group.members;
  for (const auto& [at, members] : own)
    for (const int member : *members)
      if (const auto other = own.find({at.first, member});
          other != own.end() && *other->second != *members)
        throw Error(fmt::format("the traces disagree, nothing was replayed: group {} of rank {} is "
                                "ranks {}, of rank {} ranks {}; accepted: traces of one job",
                                quote(at.first), at.second, ranges_text(*members), member,
                                ranges_text(*other->second)),
                    Exit::inconclusive);
}

JobGroup listed(const TracedGroup& traced, int ranks) {
  JobGroup group{.name = traced.name,
                 .about = traced.about,
                 .traced_ranks = static_cast<int>(traced.members.size())};
  for (std::size_t place = 0; place < traced.members.size(); ++place)
    if (traced.members[place] < ranks) {
      group.was.push_back(static_cast<int>(place));
      group.members.push_back(traced.members[place]);
    }
  return group;
}

std::vector<std::size_t> offsets_of(const std::vector<std::size_t>& counts) {
  std::vector<std::size_t> offsets(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), std::size_t{0});
  return offsets;
}

// Returns the elements of each block for the members that are here. PyTorch's splits may be rows of several elements.
std::vector<std::size_t> counts_here(const std::vector<std::size_t>& splits, std::size_t elements,
                                     const JobGroup& group) {
  const std::size_t rows = std::accumulate(splits.begin(), splits.end(), std::size_t{0});
  const std::size_t row = rows > 0 ? elements / rows : 0;
  std::vector<std::size_t> counts;
  for (const int was : group.was) counts.push_back(splits[static_cast<std::size_t>(was)] * row);
  return counts;
}

std::string set_alltoall(PlannedKind& kind, const CallKind& traced, const JobGroup& group) {
  const auto n = static_cast<std::size_t>(group.traced_ranks);
  if (traced.in_splits.empty() && traced.out_splits.empty()) {
    if (traced.in != traced.out || traced.in % n != 0)
      return "alltoall of unequal blocks whose sizes are not recorded";
    kind.count = traced.in / n;
    return {};
  }
  const std::vector<std::size_t> even_in(n, traced.in / n), even_out(n, traced.out / n);
  const auto& in = traced.in_splits.empty() ? even_in : traced.in_splits;
  const auto& out = traced.out_splits.empty() ? even_out : traced.out_splits;
  const auto fits = [n](const std::vector<std::size_t>& splits, std::size_t elements) {
    const std::size_t rows = std::accumulate(splits.begin(), splits.end(), std::size_t{0});
    return splits.size() == n && (rows == 0 ? elements == 0 : elements % rows == 0);
  };
  if (!fits(in, traced.in) || !fits(out, traced.out))
    return "alltoall whose splits do not fit its sizes";
  kind.operation = OperationId::alltoallv;
  kind.send_counts = counts_here(in, traced.in, group);
  kind.recv_counts = counts_here(out, traced.out, group);
  kind.send_offsets = offsets_of(kind.send_counts);
  kind.recv_offsets = offsets_of(kind.recv_counts);
  return {};
}

// Sets count, root and peer. Returns why such a call cannot be replayed; empty: it can.
std::string set_arguments(PlannedKind& kind, const CallKind& traced, const JobGroup& group) {
  using enum OperationId;
  const auto n = static_cast<std::size_t>(group.traced_ranks);
  const auto blocks_fit = [n](std::size_t one, std::size_t all) {
    return all == 0 || all == one * n;
  };
  constexpr const char* no_fit = "sizes that do not fit the group's size";
  if (received_by_root.has(traced.operation) || sent_by_root.has(traced.operation)) {
    if (traced.root < 0 || traced.root >= group.traced_ranks)
      return "its root is no rank of its group";
    kind.root = std::max(0, group.rank_that_was(traced.root));
  }
  switch (traced.operation) {
    case all_reduce:
    case reduce:
    case broadcast: kind.count = std::max(traced.in, traced.out); return {};
    case all_gather:
    case gather: kind.count = traced.in; return blocks_fit(traced.in, traced.out) ? "" : no_fit;
    case reduce_scatter:
    case scatter: kind.count = traced.out; return blocks_fit(traced.out, traced.in) ? "" : no_fit;
    case alltoall: return set_alltoall(kind, traced, group);
    case transfer:
      kind.count = kind.sends ? traced.in : std::max(traced.in, traced.out);
      if (traced.peer < 0 || traced.peer >= group.traced_ranks)
        return "its peer is no rank of its group";
      kind.peer = group.rank_that_was(traced.peer);
      return kind.peer < 0 ? "messages with ranks that are not here (--ranks)" : "";
    case barrier:
    case all_gatherv:
    case reduce_scatterv:
    case alltoallv:
    case gatherv:
    case scatterv: break;
  }
  return {};
}

PlannedKind planned_kind(const CallKind& traced, std::size_t at, const JobGroup& group, int rank) {
  PlannedKind kind{.operation = traced.operation,
                   .sends = traced.sends,
                   .group = at,
                   .self = {group.rank_of(rank), group.ranks(), static_cast<int>(at)},
                   .type = traced.type.type,
                   .op = traced.op};
  kind.lost = group.unusable;
  if (kind.lost.empty() && kind.self.rank < 0) kind.lost = "its rank is no member of its group";
  if (kind.lost.empty()) kind.lost = set_arguments(kind, traced, group);
  if (kind.lost.empty() && kind.bytes() > most_bytes) kind.lost = "buffers of 1 TiB or more";
  if (kind.lost.empty() && kind.reduces() && traced.type.moved_only)
    kind.lost = "a reduction of a type that the suite does not have";
  return kind;
}

}  // namespace

int JobGroup::rank_of(int job_rank) const {
  const auto at = std::find(members.begin(), members.end(), job_rank);
  return at == members.end() ? -1 : static_cast<int>(at - members.begin());
}

int JobGroup::rank_that_was(int traced_rank) const {
  const auto at = std::find(was.begin(), was.end(), traced_rank);
  return at == was.end() ? -1 : static_cast<int>(at - was.begin());
}

std::string JobGroup::text() const {
  return fmt::format("group {}{}{} (rank{} {})", quote(name), about.empty() ? "" : " ", about,
                     members.size() == 1 ? "" : "s", ranges_text(members));
}

JobGroups job_groups(const std::vector<std::vector<TracedGroup>>& traces) {
  JobGroups all;
  all.of_rank.resize(traces.size());
  const int ranks = static_cast<int>(traces.size());
  require_same_members(traces);
  std::set<std::string> known;  // names of groups whose members some trace lists
  for (const auto& trace : traces)
    for (const TracedGroup& group : trace)
      if (!group.members.empty()) known.insert(group.name);
  std::map<std::pair<std::string, std::vector<int>>, std::size_t> indices;
  for (std::size_t r = 0; r < traces.size(); ++r)
    for (const TracedGroup& traced : traces[r]) {
      TracedGroup full = traced;
      // A trace that does not list the members takes them from one that does and has this rank.
      if (full.members.empty() && known.contains(full.name))
        for (const auto& trace : traces)
          for (const TracedGroup& other : trace)
            if (other.name == full.name &&
                std::count(other.members.begin(), other.members.end(), static_cast<int>(r)) > 0)
              full.members = other.members;
      const auto [at, is_new] = indices.try_emplace({full.name, full.members}, all.groups.size());
      if (is_new)
        all.groups.push_back(full.members.empty() ? gathered(full.name, traces)
                                                  : listed(full, ranks));
      all.of_rank[r].push_back(at->second);
      for (const int member : full.members)
        all.traced_ranks = std::max(all.traced_ranks, member + 1);
      all.traced_ranks = std::max(all.traced_ranks, traced.size);
    }
  return all;
}

Call PlannedKind::call() const {
  Call call;
  call.count = count;
  call.type = type;
  call.op = op;
  call.self = self;
  call.root = root;
  call.peer = peer;
  call.send_counts = send_counts;
  call.send_offsets = send_offsets;
  call.recv_counts = recv_counts;
  call.recv_offsets = recv_offsets;
  return call;
}

std::size_t PlannedKind::bytes() const {
  const Extent elements = extent(operation, call());
  return std::max(elements.send, elements.recv) * size_of(type);
}

void PlannedKind::as_bytes() {
  const std::size_t width = size_of(type);
  type = DataType::uint8;
  count *= width;
  for (auto* counts : {&send_counts, &send_offsets, &recv_counts, &recv_offsets})
    for (std::size_t& one : *counts) one *= width;
}

RankPlan plan(const RankTrace& trace, const JobGroups& groups, int rank) {
  RankPlan result;
  result.sampled = trace.sampled;
  result.dropped = trace.dropped;
  for (const CallKind& traced : trace.kinds) {
    const std::size_t at = groups.of_rank[static_cast<std::size_t>(rank)][traced.group];
    result.kinds.push_back(planned_kind(traced, at, groups.groups[at], rank));
  }
  result.calls.reserve(trace.calls.size());
  for (const TracedCall& call : trace.calls)
    result.calls.push_back({call.kind, call.sequence, 0, call.start_s, call.duration_s});
  return result;
}

bool shorten_gaps(RankPlan& plan, double longest_s) {
  double before_s = 0, after_s = 0;  // of the call before: in the trace, and as set here
  bool is_first = true, any = false;
  for (PlannedCall& call : plan.calls) {
    const double gap_s = is_first ? 0 : call.start_s - before_s;
    any = any || gap_s > longest_s;
    before_s = call.start_s;
    after_s = is_first ? call.start_s : after_s + std::min(gap_s, longest_s);
    call.start_s = after_s;
    is_first = false;
  }
  return any;
}

}  // namespace ccl_tests::replay
