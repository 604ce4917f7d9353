#include "src/job/rank_device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/host.hpp"

namespace ccl_tests {

namespace {

// place: host_identity() of a rank.
std::string host_of(const std::string& place) { return place.substr(0, place.find(' ')); }

LocalRank local_rank(const std::vector<std::string>& places, const std::vector<long>& processes,
                     int rank) {
  const auto me = static_cast<std::size_t>(rank);
  LocalRank local{0, 0, 0, 0};
  for (std::size_t r = 0; r < places.size(); ++r) {
    if (places[r] != places[me]) continue;
    const bool same = processes[r] == processes[me];
    local.ranks_on_host += 1;
    local.on_host += r < me ? 1 : 0;
    local.ranks_in_process += same ? 1 : 0;
    local.in_process += r < me && same ? 1 : 0;
  }
  return local;
}

}  // namespace

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
        "and "
        "no number would mean anything; start one rank for each GPU, let the launcher show every "
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

TakenDevice take_device(const Devices& devices, ControlChannel& channel,
                        const DeviceRequest& request, double limit_s) {
  std::vector<std::string> places;
  std::vector<long> processes;
  const nlohmann::json here{host_identity(), static_cast<long>(getpid())};
  for (const std::string& text : channel.all_gather(here.dump(), limit_s)) {
    const auto json = nlohmann::json::parse(text);
    places.push_back(json.at(0));
    processes.push_back(json.at(1));
  }
  const int visible = devices.count();
  const LocalRank local = local_rank(places, processes, channel.rank());
  TakenDevice taken;
  taken.device = devices.open(choose_device(local, visible, request.first, request.share));
  const DeviceInfo own = taken.device->info();
  const nlohmann::json mine{own.index,  visible,       own.name,
                            own.bus_id, own.unique_id, own.cache_bytes};
  for (const std::string& text : channel.all_gather(mine.dump(), limit_s)) {
    const auto json = nlohmann::json::parse(text);
    taken.ranks.push_back({json.at(0), json.at(1), json.at(2), json.at(3), json.at(4), json.at(5)});
  }
  check_devices(taken.ranks, places, request);
  return taken;
}

}  // namespace ccl_tests
