#include "src/bootstrap/hub_rounds.hpp"

#include <functional>
#include <numeric>

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

bool is_team(const Team& team, int processes) {
  const std::vector<int>& p = team.processes;
  return !p.empty() && p.front() >= 0 && p.back() < processes &&
         std::adjacent_find(p.begin(), p.end(), std::greater_equal<>()) == p.end();
}

}  // namespace

HubRounds::HubRounds(int processes) : processes_(processes) {
  std::vector<int> all(static_cast<std::size_t>(processes));
  std::iota(all.begin(), all.end(), 0);
  rounds_.emplace(std::string(), HubRound(std::move(all)));
}

HubRound& HubRounds::add(int process, Contribution contribution) {
  auto found = rounds_.find(contribution.team.name);
  if (found == rounds_.end()) {
    if (!is_team(contribution.team, processes_)) throw Error("an exchange of an unknown team");
    HubRound round(contribution.team.processes);
    found = rounds_.emplace(contribution.team.name, std::move(round)).first;
  }
  if (!found->second.add(process, std::move(contribution))) throw Error("an exchange out of turn");
  return found->second;
}

TimePoint HubRounds::deadline() const {
  TimePoint earliest = TimePoint::max();
  for (const auto& [name, round] : rounds_)
    if (round.under_way()) earliest = std::min(earliest, round.deadline());
  return earliest;
}

}  // namespace ccl_tests
