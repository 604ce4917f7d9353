#include "src/job/rank_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/host.hpp"
#include "src/core/serialize.hpp"
#include "src/devices/devices.hpp"
#include "src/devices/host_limits.hpp"

namespace ccl_tests {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankIdentity, host, machine, cpu, pid, memory, cpus, cpu_quota,
                                   core_cache, last_cache)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(DeviceIdentity, index, visible, name, bus_id, unique_id,
                                   cache_bytes)

namespace {

// place: host_identity() of a rank.
std::string host_of(const std::string& place) { return place.substr(0, place.find(' ')); }

LocalRank local_rank(const RankTable& table, int rank) {
  const RankIdentity& me = table[rank];
  LocalRank local{0, 0, 0, 0};
  for (int r = 0; r < static_cast<int>(table.ranks.size()); ++r) {
    if (table[r].place() != me.place()) continue;
    const bool same = table[r].pid == me.pid;
    local.ranks_on_host += 1;
    local.on_host += r < rank ? 1 : 0;
    local.ranks_in_process += same ? 1 : 0;
    local.in_process += r < rank && same ? 1 : 0;
  }
  return local;
}

}  // namespace

RankTable gather_rank_table(ControlChannel& channel, const std::string& simulated_host,
                            double limit_s) {
  const RankIdentity mine = {.host = simulated_host.empty() ? this_host() : simulated_host,
                             .machine = machine_id(),
                             .cpu = cpu_model(),
                             .pid = static_cast<long>(getpid()),
                             .memory = available_memory(),
                             .cpus = allowed_cpus(),
                             .cpu_quota = cpu_quota(),
                             .core_cache = core_cache_bytes(),
                             .last_cache = last_cache_bytes()};
  RankTable table;
  for (const std::string& bytes : channel.all_gather(to_bytes(mine), limit_s))
    table.ranks.push_back(from_bytes<RankIdentity>(bytes));
  return table;
}

bool RankTable::is_first_on_host(int rank) const {
  return std::none_of(ranks.begin(), ranks.begin() + rank, [&](const RankIdentity& other) {
    return other.place() == (*this)[rank].place();
  });
}

std::vector<std::string> RankTable::places() const {
  std::vector<std::string> result;
  for (const RankIdentity& r : ranks) result.push_back(r.place());
  return result;
}

bool RankTable::on_one_machine() const {
  return std::all_of(ranks.begin(), ranks.end(),
                     [&](const RankIdentity& r) { return r.machine == ranks[0].machine; });
}

int choose_device(const LocalRank& rank, int visible, std::optional<int> first, bool share) {
  const auto there_is = [&](int index) {
    if (index < visible) return index;
    throw Error(fmt::format(
        "NCCL_TESTS_DEVICE={} puts a rank on device {}, but this process sees {} (0 to {})", *first,
        index, visible, visible - 1));
  };
  if (first) return there_is(*first + (share ? 0 : rank.in_process));
  if (visible >= rank.ranks_on_host) return rank.on_host;
  if (visible >= rank.ranks_in_process && !share) return rank.in_process;
  if (share) return rank.on_host % visible;
  throw Error(fmt::format(
      "{} ranks in this process, but it sees {} GPU{}: start fewer (-t, -g), or say --share-gpus",
      rank.ranks_in_process, visible, visible == 1 ? "" : "s"));
}

void check_devices(const std::vector<DeviceIdentity>& ranks, const std::vector<std::string>& places,
                   const DeviceRequest& request) {
  std::map<std::string, std::vector<std::size_t>> ranks_on;  // device
  std::map<std::string, std::set<std::string>> used;         // place
  std::map<std::string, int> visible;                        // place
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    ranks_on[ranks[r].unique_id].push_back(r);
    used[places[r]].insert(ranks[r].unique_id);
    visible[places[r]] = std::max(visible[places[r]], ranks[r].visible);
  }
  for (const auto& [device, sharing] : ranks_on) {
    if (request.share || sharing.size() == 1) continue;
    const std::size_t r = sharing.front();
    throw Error(fmt::format(
        "ranks {} are on one GPU, {} [{}] of {} (rank {}'s process sees {}): NCCL may hang there, "
        "and no number would mean anything; start one rank for each GPU, let the launcher show every "
        "process its own, or say --share-gpus",
        fmt::join(sharing, ", "), ranks[r].name, ranks[r].bus_id, host_of(places[r]), r,
        ranks[r].visible));
  }
  for (const auto& [place, devices] : used) {
    const int there = std::max(visible[place], static_cast<int>(devices.size()));
    if (there >= request.promised) continue;
    throw Error(fmt::format("{} says that every host has so many GPUs; {} shows {}",
                            request.promised_by, host_of(place), there));
  }
}

std::unique_ptr<Device> take_device(const Devices& devices, ControlChannel& channel,
                                    const DeviceRequest& request, double limit_s,
                                    RankTable& table) {
  const int visible = devices.count();
  const LocalRank local = local_rank(table, channel.rank());
  auto own = devices.open(choose_device(local, visible, request.first, request.share));
  const DeviceIdentity mine{own->info(), visible};
  std::vector<DeviceIdentity> all;
  for (const std::string& bytes : channel.all_gather(to_bytes(mine), limit_s))
    all.push_back(from_bytes<DeviceIdentity>(bytes));
  check_devices(all, table.places(), request);
  for (std::size_t r = 0; r < all.size(); ++r) table.ranks[r].device = std::move(all[r]);
  return own;
}

}  // namespace ccl_tests
