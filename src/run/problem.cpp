#include "src/run/problem.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ccl_tests {
namespace {

// The pair of this rank, or who else is measured.
std::string pairs_text(const Problem& p) {
  if (!p.collective->domain.paired) return {};
  const RankGroups& pairs = *p.point.groups;
  const int group = p.shape.self.group;
  if (group < 0 && pairs.number() > 1) return fmt::format(", {} pairs", pairs.number());
  const auto& pair = pairs.members(std::max(0, group));
  return fmt::format(", pair {}:{}", pair[0], pair[1]);
}

}  // namespace

Problem problem(const Collective& collective, const SweepPoint& point,
                const CollectiveOptions& options, int world_rank) {
  const RankGroups& groups = *point.groups;
  const int group = groups.group_of(world_rank);
  const GroupRank self{groups.rank_in_group(world_rank), groups.ranks_of(std::max(0, group)),
                       group};
  const std::size_t width = size_of(point.type);
  Problem p{&collective, point, {point.bytes / width, width, self, options, point.root},
            {},          {},    {}};
  p.bytes = row_bytes(collective, p.shape);
  p.layout = collective.layout(p.shape);
  if (!p.takes_part()) {
    p.layout.send = p.layout.recv = 0;
    return p;
  }
  p.blocks = collective.expected(p.shape);
  if (collective.domain.paired) p.peer = groups.members(group)[self.rank == 0 ? 1 : 0];
  return p;
}

Shape shape_of(const SweepPoint& point, const CollectiveOptions& options, int group) {
  const std::size_t width = size_of(point.type);
  return {
      point.bytes / width, width, {0, point.groups->ranks_of(group), group}, options, point.root};
}

Call Problem::call(const void* send, void* recv) const {
  Call call = call_of(shape, layout, point.type, point.op.value_or(ReduceOp::sum));
  call.send = send;
  call.recv = recv;
  call.peer = peer;
  return call;
}

std::string Problem::text() const {
  return fmt::format("{} {}{}{}, {} B{}", collective->name, name(point.type), point.op ? " " : "",
                     point.op ? name(*point.op) : "", point.bytes, pairs_text(*this));
}

}  // namespace ccl_tests
