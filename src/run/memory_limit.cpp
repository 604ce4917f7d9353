#include "src/run/memory_limit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "src/core/device.hpp"
#include "src/core/error.hpp"
#include "src/core/serialize.hpp"
#include "src/measure/stopping.hpp"

namespace ccl_tests {
namespace {

constexpr std::size_t cache_line = 64;

// Larger rows repeat one call on one slot, as programs do. From 128 KiB on it matters how many
// there are, though they fit into a cache: with two to four, all_reduce of 128 KiB to 1 MiB over
// Open MPI and MPICH takes 0.8 to 0.94 times as long, of 4 MiB 1.6 times
// (results/2026-11-25-debian12-2core-sweeps).
constexpr std::size_t most_warm_with_two = 64 << 10;

std::size_t data_of(std::size_t bytes) {
  return std::max(cache_line, (bytes + cache_line - 1) / cache_line * cache_line);
}

// Slots whose data fit into the footprint in both buffers. No more than that each can lie on a page
// of its own for which a core has an entry in its first-level TLB (64 on current CPUs). Small rows
// whose library finds them in the first-level cache when a program repeats one call stay in a
// quarter of it (32 KiB or more on current CPUs): all_reduce of 1 KiB over Open MPI takes 1.07
// times as long with 32 slots, 1.02 times with 4.
std::size_t warm_slots(std::size_t data, std::size_t footprint) {
  constexpr std::size_t most = 32, nearest = 8 << 10, least = 2;
  if (data > most_warm_with_two) return 1;
  const std::size_t near = nearest / 2 / data;
  return std::min(near >= least ? near : footprint / 2 / data, most);
}

// Slots of one buffer that hold half of the footprint. An eighth more is for the guard zones of
// slots from 64 KiB on: smaller ones are fewer than their data alone would ask for.
std::size_t rotated_slots(std::size_t data, std::size_t stride, std::size_t footprint) {
  const std::size_t half = footprint / 2;
  const auto that_cover = [](std::size_t bytes, std::size_t each) {
    return (bytes + each - 1) / each;
  };
  return std::min(that_cover(half, data), that_cover(half + half / 8, stride));
}

// Returns the bytes that the collective itself allocates, per buffer.
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

std::size_t footprint(const SlotRule& rule) {
  constexpr std::size_t of_unknown = std::size_t{128} << 20;
  if (rule.cache_bytes == 0) return of_unknown;
  switch (rule.use) {
    case CacheUse::warm: return rule.cache_bytes / 2;  // the library has buffers of its own
    case CacheUse::rotate: return 4 * rule.cache_bytes;
    case CacheUse::cold: return 2 * rule.cache_bytes;
  }
  return 0;
}

std::size_t footprint_to_be_had(const SlotRule& rule) {
  return 2 * std::min(footprint(rule) / 2, rule.most_bytes);
}

Slots plan_slots(std::size_t bytes, std::size_t shift, const SlotRule& rule) {
  const std::size_t most_with_two = rule.use == CacheUse::warm ? most_warm_with_two : 8 << 20;
  const std::size_t data = data_of(bytes);
  Slots slots{.bytes = bytes, .stride = data + verify::guard_bytes, .shift = shift};
  const std::size_t room = rule.use == CacheUse::warm
                               ? warm_slots(data, footprint(rule))
                               : rotated_slots(data, slots.stride, footprint(rule));
  const std::size_t least = bytes <= most_with_two ? 2 : 1;
  const std::size_t free = rule.most_bytes - std::min(rule.most_bytes, slots.offset(0));
  slots.count =
      std::max<std::size_t>(1, std::min({rule.wanted, std::max(least, room), free / slots.stride}));
  return slots;
}

std::size_t calls_per_block(const Slots& slots, const SlotRule& rule) {
  const bool repeats = 2 * slots.count * data_of(slots.bytes) >= footprint(rule);
  return rule.use != CacheUse::cold || repeats ? 0 : slots.count;
}

RowBytes row_bytes(const Collective& collective, const Shape& shape) {
  RowBytes result;
  Shape s = shape;
  for (const int rank : std::set<int>{0, shape.root, shape.self.ranks - 1}) {
    s.self.rank = rank;
    const Layout layout = collective.layout(s);
    const std::size_t larger = std::max(layout.send, layout.recv);
    result.size = std::max(result.size, larger / layout.messages * s.type_bytes);
    const InPlace at = layout.in_place.value_or(InPlace{0, 0});
    const std::size_t end = std::max(at.send + layout.send, at.recv + layout.recv);
    result.region = std::max(result.region, end * s.type_bytes);
  }
  if (collective.largest != nullptr) {
    const std::size_t bytes = collective.largest(shape) * shape.type_bytes;
    result.size = std::max(result.size, bytes);
    result.region = std::max(result.region, bytes);
  }
  // What experts get depends on the routing: rows of several routings have the size of the tokens.
  if (collective.flags.routing) result.size = collective.layout(s).algbw_bytes;
  return result;
}

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
  // The number of a stream's calls is not known, nor how many are untimed in a millisecond.
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
