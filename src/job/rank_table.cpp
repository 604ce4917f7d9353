#include "src/job/rank_table.hpp"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/core/host.hpp"
#include "src/devices/host_cpus.hpp"
#include "src/devices/host_memory.hpp"

namespace ccl_tests {

RankTable gather_rank_table(ControlChannel& channel, double limit_s) {
  const nlohmann::json mine{
      this_host(),        machine_id(),   cpu_model(), static_cast<long>(getpid()),
      available_memory(), allowed_cpus(), cpu_quota(), core_cache_bytes(),
      last_cache_bytes()};
  RankTable table;
  for (const std::string& text : channel.all_gather(mine.dump(), limit_s)) {
    const auto json = nlohmann::json::parse(text);
    table.ranks.push_back({json.at(0),
                           json.at(1),
                           json.at(2),
                           json.at(3),
                           json.at(4),
                           json.at(5),
                           json.at(6),
                           DeviceIdentity(),
                           {},
                           json.at(7),
                           json.at(8)});
  }
  return table;
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

}  // namespace ccl_tests
