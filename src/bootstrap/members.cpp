#include "src/bootstrap/members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/bootstrap/job_key.hpp"

namespace ccl_tests {

void Attendance::add(int& count, int change) {
  const std::lock_guard lock(mutex_);
  count += change;
  changed_.notify_all();
}

void Attendance::leave(Peer& peer) {
  report(peer);
  if (!std::exchange(peer.left, true)) add(here_, -1);
}

void Attendance::report(Peer& peer) {
  if (!std::exchange(peer.reported, true)) add(unreported_, -1);
}

void Attendance::add_address(int process, const std::string& local_address) {
  const std::lock_guard lock(mutex_);
  if (!local_address.empty()) local_addresses_[process] = local_address;
}

std::vector<std::string> Attendance::local_addresses() {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> result;
  for (const auto& [process, address] : local_addresses_) result.push_back(address);
  return result;
}

bool Attendance::wait(double limit_s, const std::function<bool()>& until) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, seconds_to_duration(limit_s), until);
}

void Members::send_to_all(std::string bytes, const Peer* except) const {
  const auto shared = std::make_shared<const std::string>(std::move(bytes));
  for (const std::vector<Peer*>* group : {&by_process_, &differing})
    for (const Peer* peer : *group)
      if (peer != nullptr && peer != except && peer->here()) peer->connection->send(shared);
}

std::vector<std::string> Members::names(const std::vector<int>& processes) const {
  std::vector<std::string> result;
  for (const int process : processes) result.push_back(of(process)->hello->name());
  return result;
}

std::vector<int> Members::rank_numbers(const std::vector<int>& processes) const {
  std::vector<int> result;
  for (const int process : processes) {
    const std::vector<int> ranks = of(process)->hello->rank_numbers();
    result.insert(result.end(), ranks.begin(), ranks.end());
  }
  return result;
}

std::vector<int> Members::missing() const {
  std::vector<int> missing;
  for (std::size_t p = 0; p < by_process_.size(); ++p)
    if (by_process_[p] == nullptr) missing.push_back(static_cast<int>(p));
  return missing;
}

std::vector<std::string> Members::missing_ranks() const {
  std::vector<std::string> ranks;
  for (const int process : missing()) ranks.push_back(ranks_name(process, ranks_per_process_));
  return ranks;
}

std::string Members::missing(double limit_s) const {
  std::vector<std::string> here;
  for (const Peer* member : by_process_)
    if (member != nullptr) here.push_back(member->hello->name());
  const std::vector<std::string> missing = missing_ranks();
  return fmt::format("{} of {} processes did not come within {:g} s: {}; here: {}", missing.size(),
                     by_process_.size(), limit_s, join_names(missing), join_names(here));
}

std::string Members::disagreement(const std::map<int, Hello>& others) const {
  std::vector<Hello> hellos;
  for (const Peer* member : by_process_)
    if (member != nullptr) hellos.push_back(*member->hello);
  for (const Peer* peer : differing) hellos.push_back(*peer->hello);
  for (const auto& [process, hello] : others) hellos.push_back(hello);
  return ccl_tests::disagreement(std::move(hellos));
}

std::vector<int> Members::silent(int heartbeats) const {
  std::vector<int> silent;
  for (std::size_t p = 0; p < by_process_.size(); ++p) {
    const Peer* const member = by_process_[p];
    if (member != nullptr && member->here() && member->silent >= heartbeats)
      silent.push_back(static_cast<int>(p));
  }
  return silent;
}

std::vector<int> Members::awaited_in_calls(int heartbeats) const {
  const auto waits = [&](const Peer* member) {
    return member != nullptr && member->here() && member->silent < heartbeats &&
           any_in_a_call(member->statuses);
  };
  if (std::none_of(by_process_.begin(), by_process_.end(), waits)) return {};
  return silent(heartbeats);
}

void Members::add_statuses(Failure& failure) const {
  std::vector<RankStatus> all;
  bool everybody = true;
  for (const Peer* member : by_process_) {
    everybody = everybody && member != nullptr && !member->statuses.empty();
    if (member != nullptr) all.insert(all.end(), member->statuses.begin(), member->statuses.end());
  }
  if (all.empty()) return;
  if (failure.late.empty()) failure.late = late_ranks(all);
  failure.message += "; last heard of: " + where_ranks_are(std::move(all), everybody);
}

bool OtherJobs::include(const Hello& hello, const std::vector<int>& missing) {
  if (!may_come_) return false;
  if (hello.refusal.code != 0)  // nobody knows its flags
    return hello.process != 0 && hello.processes != self_.processes;
  if (agree(self_, hello) || (rival && agree(*rival, hello))) return false;
  const bool only_they_miss = std::all_of(missing.begin(), missing.end(), [&](int p) {
    return p == hello.process || seen.contains(p);
  });
  const auto now = std::chrono::steady_clock::now();
  if (!only_they_miss)
    only_they_miss_.reset();
  else if (!only_they_miss_)
    only_they_miss_ = now;
  return !only_they_miss_ || now < *only_they_miss_ + seconds_to_duration(patience_s_);
}

bool OtherJobs::is_new(const Hello& hello) {
  constexpr std::size_t most = 1000;
  return seen.size() < most && seen.insert_or_assign(hello.process, hello).second;
}

}  // namespace ccl_tests
