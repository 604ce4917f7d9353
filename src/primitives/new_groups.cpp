// RankGroups of a group's ranks.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "src/core/host.hpp"
#include "src/primitives/agreement.hpp"
#include "src/primitives/group.hpp"

namespace ccl_tests::primitives {
namespace {

void check_list_of_ranks(const std::vector<int>& list, int ranks) {
  if (list.empty()) throw UsageError("new_group: no ranks");
  std::set<int> seen;
  for (const int rank : list) {
    if (rank < 0 || rank >= ranks)
      throw UsageError(fmt::format("new_group: no rank {} in a group of {} ranks", rank, ranks));
    if (!seen.insert(rank).second)
      throw UsageError(fmt::format("new_group: rank {} is listed twice", rank));
  }
}

}  // namespace

std::unique_ptr<Group> Group::new_group(const std::vector<int>& ranks) {
  check_agreement(*this, "new_group", {{"the list of ranks", fmt::format("{}", ranks)}});
  check_list_of_ranks(ranks, this->ranks());
  const auto at = std::find(ranks.begin(), ranks.end(), rank());
  return split(at == ranks.end() ? -1 : 0, static_cast<int>(at - ranks.begin()));
}

void Group::create_local_group(int ranks_per_machine) {
  check_agreement(*this, "create_local_group",
                  {{"ranks_per_machine", std::to_string(ranks_per_machine)}});
  if (ranks_per_machine < 1 || ranks() % ranks_per_machine != 0) {
    throw UsageError(
        fmt::format("create_local_group: {} ranks cannot be divided into machines of {}", ranks(),
                    ranks_per_machine));
  }
  local_ = split(rank() / ranks_per_machine, rank());
  barrier();
}

void Group::create_local_group_by_machine(std::string_view machine) {
  const auto machines = all_gather(machine.empty() ? host_identity() : std::string(machine));
  const auto mine = machines.begin() + rank();
  local_ =
      split(static_cast<int>(std::find(machines.begin(), mine, *mine) - machines.begin()), rank());
  barrier();
}

Group& Group::local_group() {
  if (local_) return *local_;
  if (!is_distributed()) return *this;
  throw UsageError(
      "there is no local group yet: let all ranks call create_local_group(ranks_per_machine) or "
      "create_local_group_by_machine() first");
}

}  // namespace ccl_tests::primitives
