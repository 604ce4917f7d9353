#include "src/bootstrap/exchanges.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <utility>

#include "src/core/error.hpp"

namespace ccl_tests {
namespace {

bool is_team(const Team& team, int processes) {
  const std::vector<int>& p = team.processes;
  return !p.empty() && p.front() >= 0 && p.back() < processes &&
         std::adjacent_find(p.begin(), p.end(), std::greater_equal<>()) == p.end() &&
         std::binary_search(p.begin(), p.end(), team.root);
}

std::size_t position(const std::vector<int>& processes, int process) {
  const auto at = std::lower_bound(processes.begin(), processes.end(), process);
  if (at == processes.end() || *at != process) throw Error("an exchange of another team");
  return static_cast<std::size_t>(at - processes.begin());
}

}  // namespace

TeamExchanges::TeamExchanges(Team team) : team_(std::move(team)), next_(team_.processes.size()) {}

std::optional<TeamExchanges::Made> TeamExchanges::add(int process, Contribution contribution) {
  const std::size_t at = position(team_.processes, process);
  if (contribution.round != next_[at]) throw Error("an exchange out of turn");
  const std::size_t ahead = next_[at]++ - number_;
  if (ahead == open_.size()) {
    open_.emplace_back();
    open_.back().began = {process, contribution.kind};
    open_.back().bytes.resize(team_.processes.size());
  }
  Open& open = open_[ahead];
  if (open.began.kind != contribution.kind) return open.began;
  open.bytes[at] = std::move(contribution.bytes);
  ++open.arrived;
  open.deadline = std::min(open.deadline, deadline_of_limit(contribution.limit_s));
  return std::nullopt;
}

Round TeamExchanges::take() {
  Open& open = open_.front();
  Round round{number_++, {}, team_.name};
  if (open.began.kind == ExchangeKind::broadcast)
    round.bytes.push_back(std::move(open.bytes[position(team_.processes, team_.root)]));
  else
    round.bytes = std::move(open.bytes);
  open_.pop_front();
  return round;
}

TimePoint TeamExchanges::deadline() const {
  TimePoint earliest = TimePoint::max();
  for (const Open& open : open_) earliest = std::min(earliest, open.deadline);
  return earliest;
}

void TeamExchanges::append_missing(TimePoint not_later_than, std::vector<int>& processes) const {
  for (std::size_t k = 0; k < open_.size(); ++k) {
    if (open_[k].deadline > not_later_than) continue;
    for (std::size_t i = 0; i < next_.size(); ++i)
      if (next_[i] <= number_ + k) processes.push_back(team_.processes[i]);
  }
}

Exchanges::Exchanges(int processes) : processes_(processes) {
  Team all;
  all.processes.resize(static_cast<std::size_t>(processes));
  std::iota(all.processes.begin(), all.processes.end(), 0);
  teams_.emplace(all.name, TeamExchanges(all));
}

Exchanges::Added Exchanges::add(int process, Contribution contribution) {
  auto found = teams_.find(contribution.team.name);
  if (found == teams_.end()) {
    if (!is_team(contribution.team, processes_)) throw Error("an exchange of an unknown team");
    found = teams_.emplace(contribution.team.name, TeamExchanges(contribution.team)).first;
  }
  TeamExchanges& team = found->second;
  auto other = team.add(process, std::move(contribution));
  return {team, other};
}

TimePoint Exchanges::deadline() const {
  TimePoint earliest = TimePoint::max();
  for (const auto& [name, team] : teams_) earliest = std::min(earliest, team.deadline());
  return earliest;
}

std::vector<int> Exchanges::missing(TimePoint not_later_than) const {
  std::vector<int> processes;
  for (const auto& [name, team] : teams_) team.append_missing(not_later_than, processes);
  std::sort(processes.begin(), processes.end());
  processes.erase(std::unique(processes.begin(), processes.end()), processes.end());
  return processes;
}

}  // namespace ccl_tests
