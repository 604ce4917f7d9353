#include "src/bootstrap/thread_exchange.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "src/bootstrap/control_frame.hpp"
#include "src/core/error.hpp"

namespace ccl_tests {

// One exchange: what this process's threads bring, and what comes out for them.
struct ThreadExchange::Turn {
  ExchangeKind kind = ExchangeKind::all_gather;
  int first = 0;                               // the rank that came first
  std::vector<std::optional<std::string>> in;  // by position in local_
  std::size_t arrived = 0;
  std::optional<std::vector<std::string>> out;

  bool complete() const { return arrived == in.size(); }
};

ThreadExchange::ThreadExchange(Control& control, Team team, std::vector<Seat> seats)
    : control_(control), team_(std::move(team)), seats_(std::move(seats)) {
  in_order_.resize(seats_.size());
  std::iota(in_order_.begin(), in_order_.end(), 0);
  std::sort(in_order_.begin(), in_order_.end(), [&](int a, int b) {
    return seats_[static_cast<std::size_t>(a)].world_rank <
           seats_[static_cast<std::size_t>(b)].world_rank;
  });
  for (const int rank : in_order_) {
    if (seats_[static_cast<std::size_t>(rank)].process == control_.process())
      local_.push_back(rank);
  }
  next_.resize(local_.size());
}

void ThreadExchange::fail(const Failure& why) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = why;
  changed_.notify_all();
}

std::vector<std::string> ThreadExchange::exchange(ExchangeKind kind, int rank,
                                                  std::string_view bytes, double limit_s) {
  const TimePoint deadline = deadline_of_limit(limit_s);
  std::unique_lock lock(mutex_);
  if (failure_) throw_failure(*failure_);
  const std::shared_ptr<Turn> mine = join(kind, rank, bytes);
  if (calls_processes(*mine, rank)) {
    wait_for_threads(lock, *mine, deadline);
    lock.unlock();
    std::vector<std::string> all = between_processes(*mine, limit_s);
    lock.lock();
    if (failure_) throw_failure(*failure_);
    mine->out = all;
    changed_.notify_all();
    return all;
  }
  if (kind == ExchangeKind::gather) return {};
  wait_for_threads(lock, *mine, deadline);
  changed_.wait(lock, [&] { return mine->out || failure_; });  // the caller's wait has a limit
  if (mine->out) return *mine->out;
  throw_failure(*failure_);
}

// Adds `bytes` to the next exchange of `rank`.
std::shared_ptr<ThreadExchange::Turn> ThreadExchange::join(ExchangeKind kind, int rank,
                                                           std::string_view bytes) {
  const auto place =
      static_cast<std::size_t>(std::find(local_.begin(), local_.end(), rank) - local_.begin());
  const std::size_t ahead = next_[place]++ - first_;
  if (ahead == open_.size()) {
    open_.push_back(std::make_shared<Turn>());
    open_.back()->kind = kind;
    open_.back()->first = rank;
    open_.back()->in.resize(local_.size());
  }
  std::shared_ptr<Turn> turn = open_[ahead];
  if (turn->kind != kind) {
    const auto name = [&](int r) { return seats_[static_cast<std::size_t>(r)].world_rank; };
    failure_ =
        Failure{exit_code(Exit::failed),
                fmt::format("different calls at once: rank {} called {}, rank {} called {}",
                            name(turn->first), name_of(turn->kind), name(rank), name_of(kind))};
    changed_.notify_all();
    throw_failure(*failure_);
  }
  turn->in[place] = std::string(bytes);
  ++turn->arrived;
  if (turn->complete()) {  // each thread comes to one after the other: it is the oldest
    open_.pop_front();
    ++first_;
    changed_.notify_all();
  }
  return turn;
}

bool ThreadExchange::calls_processes(const Turn& turn, int rank) const {
  const bool has_root = seats_.front().process == control_.process();
  if (turn.kind == ExchangeKind::gather && has_root) return rank == 0;
  return turn.complete();
}

void ThreadExchange::wait_for_threads(std::unique_lock<std::mutex>& lock, const Turn& turn,
                                      TimePoint deadline) {
  changed_.wait_until(lock, deadline, [&] { return turn.complete() || failure_; });
  if (turn.complete()) return;
  if (!failure_) {
    failure_ = Failure{exit_code(Exit::timed_out), missing(turn)};
    changed_.notify_all();
  }
  throw_failure(*failure_);
}

std::vector<std::string> ThreadExchange::between_processes(const Turn& complete, double limit_s) {
  try {
    if (complete.kind == ExchangeKind::broadcast) {
      const auto root = std::find(local_.begin(), local_.end(), 0);
      const std::string own = root == local_.end()
                                  ? std::string()
                                  : *complete.in[static_cast<std::size_t>(root - local_.begin())];
      return control_.exchange(complete.kind, team_, own, limit_s);
    }
    std::vector<std::string> own;
    for (const std::optional<std::string>& bytes : complete.in) own.push_back(*bytes);
    const auto processes = control_.exchange(complete.kind, team_, pack(own), limit_s);
    if (complete.kind == ExchangeKind::gather && team_.root != control_.process()) return {};
    return unpack_all(processes);
  } catch (const Error& error) {
    fail({exit_code(error.code()), error.what()});
    throw;
  }
}

std::vector<std::string> ThreadExchange::unpack_all(
    const std::vector<std::string>& processes) const {
  std::vector<std::string> all(seats_.size());
  std::size_t next = 0;
  for (const std::string& packed : processes) {
    for (std::string& bytes : unpack(packed)) {
      if (next == all.size()) throw Error("the processes have different numbers of ranks");
      all[static_cast<std::size_t>(in_order_[next++])] = std::move(bytes);
    }
  }
  if (next != all.size()) throw Error("the processes have different numbers of ranks");
  return all;
}

std::string ThreadExchange::missing(const Turn& incomplete) const {
  std::string ranks;
  for (std::size_t i = 0; i < local_.size(); ++i) {
    if (incomplete.in[i]) continue;
    const Seat& seat = seats_[static_cast<std::size_t>(local_[i])];
    ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", seat.world_rank);
  }
  return fmt::format("did not come to an exchange in time: rank {} (thread of this process)",
                     ranks);
}

}  // namespace ccl_tests
