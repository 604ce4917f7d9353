#include "src/run/free_memory.hpp"

#include <string>

#include "src/core/device.hpp"

namespace ccl_tests {

RankTable table_with_free_memory(Rank& rank) {
  RankTable table = rank.table();
  if (rank.process().staging.buffers == Memory::host) return table;
  const std::string mine = std::to_string(rank.gpu()->available());
  const auto all = rank.world().all_gather(mine, rank.limit_s());
  for (std::size_t r = 0; r < table.ranks.size(); ++r) table.ranks[r].memory = std::stoull(all[r]);
  return table;
}

}  // namespace ccl_tests
