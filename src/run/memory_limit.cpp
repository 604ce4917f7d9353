#include "src/run/memory_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "src/core/device.hpp"
#include "src/core/error.hpp"
#include "src/core/serialize.hpp"
#include "src/measure/stopping.hpp"

namespace ccl_tests {
namespace {

// Bytes that the collective itself allocates, per buffer.
std::size_t scratch_bytes(const Collective& collective, const Shape& shape) {
  return collective.scratch != nullptr ? collective.scratch(shape) / 2 : 0;
}

std::string bytes_text(double bytes) {
  for (const char* unit : {"B", "KB", "MB"}) {
    if (bytes < 1024) return fmt::format("{:.4g} {}", bytes, unit);
    bytes /= 1024;
  }
  return fmt::format("{:.4g} GB", bytes);
}

}  // namespace

std::size_t buffer_limit(std::size_t available, std::size_t ranks, double scratch,
                         std::size_t taken_later) {
  const std::size_t free = std::min<std::size_t>(available / 10, std::size_t{2} << 30);
  const std::size_t reserve =
      std::max(free, std::min(available / 3, std::max<std::size_t>(1, ranks) * taken_later));
  const double buffers = (2 + scratch) * static_cast<double>(std::max<std::size_t>(1, ranks));
  return static_cast<std::size_t>(static_cast<double>(available - reserve) / buffers);
}

Slots row_slots(const Collective& collective, const Shape& shape, std::size_t unalign,
                const SlotRule& rule) {
  SlotRule within = rule;
  within.most_bytes -= std::min(within.most_bytes, scratch_bytes(collective, shape));
  return plan_slots(row_bytes(collective, shape).region, unalign * shape.type_bytes, within);
}

SizePlan limit_sizes(const Collective& collective, const Options& o, int ranks,
                     const SlotRule& rule) {
  if (collective.needs.synchronizes) return {{0}, std::nullopt, rule};
  if (collective.domain.fixed_bytes) return {{*collective.domain.fixed_bytes}, std::nullopt, rule};
  std::size_t widest = 1;
  for (const DataType type : o.sweep.types) widest = std::max(widest, size_of(type));
  SizePlan plan{{}, std::nullopt, rule};
  std::size_t smallest = 0;
  for (const std::size_t size : sweep_sizes(o.sweep)) {
    const Shape shape{size / widest, widest, {0, ranks}, o.spec};
    const std::size_t bytes = row_slots(collective, shape, o.sweep.unalign, rule).end() +
                              scratch_bytes(collective, shape);
    if (bytes <= rule.most_bytes) {
      plan.sizes.push_back(size);
    } else {
      plan.reduced_max = rule.most_bytes;
      smallest = bytes;
    }
  }
  if (plan.reduced_max && collective.scratch != nullptr && !plan.sizes.empty())
    plan.reduced_max = plan.sizes.back();  // a buffer may be larger: other memory is what is short
  if (plan.sizes.empty())
    throw Unsupported(
        fmt::format("no size fits into memory: a buffer of {} B is needed, {} B are free for each",
                    smallest, rule.most_bytes));
  return plan;
}

SizePlan plan_sizes(const Collective& collective, const Options& o, const RankTable& table,
                    const RankGroups& groups, Memory buffers, const BackendInfo& library) {
  const auto shared = [&](const RankIdentity& r) {
    return buffers == Memory::cuda ? r.device.unique_id : r.machine;
  };
  std::map<std::string, std::size_t> ranks_on;
  for (const RankIdentity& r : table.ranks) ++ranks_on[shared(r)];
  const int table_ranks = static_cast<int>(table.ranks.size());
  const double kept = o.check.reproducible && buffers == Memory::host ? 1 : 0;  // a result
  const double scratch = library.scratch_factor(table_ranks) + kept;
  SlotRule rule = slot_rule_of(o, table, buffers);
  for (const RankIdentity& r : table.ranks) {
    const std::size_t ranks = ranks_on[shared(r)];
    const std::size_t left = r.memory - std::min(r.memory, ranks * rule.flush_bytes);
    rule.most_bytes = std::min(
        rule.most_bytes, buffer_limit(left, ranks, scratch, library.taken_later(table_ranks)));
  }
  SizePlan least;
  for (const int n : groups.distinct_sizes()) {
    SizePlan plan = limit_sizes(collective, o, n, rule);
    if (least.sizes.empty() || plan.sizes.size() < least.sizes.size()) least = std::move(plan);
  }
  return least;
}

SlotRule slot_rule_of(const Options& o, const RankTable& table, Memory buffers) {
  const bool host = buffers == Memory::host;
  SlotRule rule;
  rule.use = o.measure.cache.value_or(host ? CacheUse::warm : CacheUse::rotate);
  const bool cold = rule.use == CacheUse::cold;
  std::size_t core_cache = 0;
  std::map<std::string, std::size_t> ranks_on;
  for (const RankIdentity& r : table.ranks) {
    const std::size_t cache = cold ? r.last_cache : r.core_cache;
    rule.cache_bytes = std::max(rule.cache_bytes, host ? cache : r.device.cache_bytes);
    core_cache = std::max(core_cache, r.core_cache);
    ++ranks_on[r.machine];
  }
  const std::size_t timed = static_cast<std::size_t>(o.measure.iterations) *
                            static_cast<std::size_t>(o.measure.aggregate);
  const std::size_t untimed = o.measure.warmup_given ? 0 : least_untimed;
  // How many calls a stream has is not known, nor how many are untimed in a millisecond.
  const bool any_number = cold || (rule.use == CacheUse::rotate && host && !o.measure.batch);
  rule.wanted = any_number ? std::numeric_limits<std::size_t>::max()
                           : std::max<std::size_t>(1, timed + untimed);
  if (!cold) return rule;
  // The ranks of a machine write at the same time: together as much as is needed.
  std::size_t sharing = host ? table.ranks.size() : 1;
  if (host)
    for (const auto& [machine, ranks] : ranks_on) sharing = std::min(sharing, ranks);
  rule.flush_bytes = std::max(footprint(rule) / sharing, host ? 2 * core_cache : 0);
  return rule;
}

RankTable table_with_free_memory(Rank& rank) {
  RankTable table = rank.table();
  if (rank.process().staging.buffers == Memory::host) return table;
  const std::string mine = std::to_string(rank.gpu()->available());
  const auto all = rank.world().all_gather(mine, rank.limit_s());
  for (std::size_t r = 0; r < table.ranks.size(); ++r) table.ranks[r].memory = std::stoull(all[r]);
  return table;
}

std::string memory_line(ControlChannel& channel, const MemoryUse& use, std::size_t at_end,
                        double limit_s) {
  const auto used = [](std::size_t before, std::size_t after) {
    return before > after ? static_cast<double>(before - after) : 0;
  };
  const std::array mine = {used(use.before, use.connected), used(use.connected, use.allocated),
                           used(use.allocated, at_end)};
  double most = -1;
  std::string line;
  for (const std::string& bytes : channel.all_gather(span_to_bytes<double>(mine), limit_s)) {
    const auto parts = span_from_bytes<double>(bytes);
    const double total = parts.at(0) + parts.at(1) + parts.at(2);
    if (total <= most) continue;
    most = total;
    line = fmt::format(
        "GPU memory usage     : Initialization {} | User-Allocated {} | Collective {} | Total {}",
        bytes_text(parts[0]), bytes_text(parts[1]), bytes_text(parts[2]), bytes_text(total));
  }
  return line;
}

}  // namespace ccl_tests
