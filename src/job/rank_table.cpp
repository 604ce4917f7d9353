#include "src/job/rank_table.hpp"

#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "src/core/host.hpp"
#include "src/devices/host_limits.hpp"

namespace ccl_tests {

RankIdentity this_rank() {
  return {.host = this_host(),
          .machine = machine_id(),
          .cpu = cpu_model(),
          .pid = static_cast<long>(getpid()),
          .memory = available_memory(),
          .cpus = allowed_cpus(),
          .cpu_quota = cpu_quota(),
          .device = {},
          .bound = {},
          .core_cache = core_cache_bytes(),
          .last_cache = last_cache_bytes()};
}

RankTable gather_rank_table(ControlChannel& channel, const RankIdentity& mine, double limit_s) {
  const nlohmann::json words{mine.host,      mine.machine,    mine.cpu,
                             mine.pid,       mine.memory,     mine.cpus,
                             mine.cpu_quota, mine.core_cache, mine.last_cache};
  RankTable table;
  for (const std::string& text : channel.all_gather(words.dump(), limit_s)) {
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
