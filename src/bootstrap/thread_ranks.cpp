#include "src/bootstrap/thread_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <tuple>
#include <utility>

#include "src/bootstrap/control_frame.hpp"
#include "src/core/error.hpp"
#include "src/core/serialize.hpp"

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

// Exchanges of this process, by team: the first thread of a group makes one, the others join it.
class ThreadRanks::ThreadExchanges {
 public:
  std::shared_ptr<ThreadExchange> join(Control& control, const Team& team,
                                       const std::vector<Seat>& seats) {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<ThreadExchange>& known = exchanges_[team.name];
    std::shared_ptr<ThreadExchange> exchange = known.lock();
    if (!exchange) {
      exchange = std::make_shared<ThreadExchange>(control, team, seats);
      known = exchange;
      if (failure_) exchange->fail(*failure_);
    }
    return exchange;
  }

  void fail(const Failure& why) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = why;
    for (const auto& [name, known] : exchanges_)
      if (const auto exchange = known.lock()) exchange->fail(why);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<ThreadExchange>> exchanges_;  // by team
  std::optional<Failure> failure_;
};

namespace {

struct Wish {  // to be in the group
  int key, rank;
  Seat seat;
};

Team team_of(std::string name, const std::vector<Seat>& seats) {
  Team team{std::move(name), {}, seats.front().process};
  for (const Seat& seat : seats) team.processes.push_back(seat.process);
  std::sort(team.processes.begin(), team.processes.end());
  team.processes.erase(std::unique(team.processes.begin(), team.processes.end()),
                       team.processes.end());
  return team;
}

}  // namespace

class ThreadRanks::Rank : public ControlChannel {
 public:
  Rank(std::shared_ptr<ThreadExchanges> exchanges, std::shared_ptr<ThreadExchange> exchange,
       int rank)
      : exchanges_(std::move(exchanges)), exchange_(std::move(exchange)), rank_(rank) {}
  int rank() const override { return rank_; }
  int ranks() const override { return static_cast<int>(exchange_->seats().size()); }
  std::vector<std::string> all_gather(std::string_view bytes, double limit_s) override {
    return exchange_->exchange(ExchangeKind::all_gather, rank_, bytes, limit_s);
  }
  std::vector<std::string> gather(std::string_view bytes, double limit_s) override {
    return exchange_->exchange(ExchangeKind::gather, rank_, bytes, limit_s);
  }
  std::string broadcast(std::string_view bytes, double limit_s) override {
    return exchange_->exchange(ExchangeKind::broadcast, rank_, bytes, limit_s).front();
  }

  std::vector<std::string> local_addresses() const override {
    return exchange_->control().local_addresses();
  }

  std::unique_ptr<ControlChannel> split(int color, int key, double limit_s) override {
    const int number = splits_++;
    std::vector<Wish> group;
    const auto wishes = all_gather(to_bytes(std::array{color, key}), limit_s);
    if (color < 0) return nullptr;
    for (int r = 0; r < ranks(); ++r) {
      const auto at = static_cast<std::size_t>(r);
      const auto [its_color, its_key] = from_bytes<std::array<int, 2>>(wishes[at]);
      if (its_color == color) group.push_back({its_key, r, exchange_->seats()[at]});
    }
    std::sort(group.begin(), group.end(), [](const Wish& a, const Wish& b) {
      return std::tie(a.key, a.rank) < std::tie(b.key, b.rank);
    });
    const auto mine = std::find_if(group.begin(), group.end(),
                                   [&](const Wish& wish) { return wish.rank == rank_; });
    std::vector<Seat> seats;
    for (const Wish& wish : group) seats.push_back(wish.seat);
    const Team team = team_of(fmt::format("{}/{}.{}", exchange_->name(), number, color), seats);
    return std::make_unique<Rank>(exchanges_, exchanges_->join(exchange_->control(), team, seats),
                                  static_cast<int>(mine - group.begin()));
  }

 private:
  std::shared_ptr<ThreadExchanges> exchanges_;
  std::shared_ptr<ThreadExchange> exchange_;
  int rank_;
  int splits_ = 0;  // so far; the same on all ranks
};

ThreadRanks::ThreadRanks(Control& control, int threads)
    : control_(control), exchanges_(std::make_shared<ThreadExchanges>()) {
  std::vector<Seat> seats;
  for (int process = 0; process < control.processes(); ++process) {
    for (int t = 0; t < threads; ++t) seats.push_back({process, process * threads + t});
  }
  world_ = exchanges_->join(control, Team{}, seats);
  for (int t = 0; t < threads; ++t)
    ranks_.push_back(std::make_unique<Rank>(exchanges_, world_, control.process() * threads + t));
}

ThreadRanks::~ThreadRanks() = default;

ControlChannel& ThreadRanks::rank(int thread) {
  return *ranks_.at(static_cast<std::size_t>(thread));
}

void ThreadRanks::abort(const std::string& why) noexcept {
  const Failure failure{exit_code(Exit::failed), why};
  exchanges_->fail(failure);
  control_.abort(failure);
}

}  // namespace ccl_tests
