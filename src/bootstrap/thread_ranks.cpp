#include "src/bootstrap/thread_ranks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "src/bootstrap/control_frame.hpp"
#include "src/core/deadline.hpp"
#include "src/core/error.hpp"
#include "src/core/serialize.hpp"

namespace ccl_tests {

// A rank of a group: where it runs, and its number in the whole job.
struct Seat {
  int process = 0;
  int world_rank = 0;
};

namespace {

Team team_of(std::string name, const std::vector<Seat>& seats) {
  Team team{std::move(name), {}, seats.front().process};
  for (const Seat& seat : seats) team.processes.push_back(seat.process);
  std::sort(team.processes.begin(), team.processes.end());
  team.processes.erase(std::unique(team.processes.begin(), team.processes.end()),
                       team.processes.end());
  return team;
}

}  // namespace

// Exchanges of the ranks of one group that are threads of this process, among themselves and with
// the group's other processes.
class ThreadRanks::Exchange {
 public:
  // group_seats: of the group's ranks, in rank order. group_team: all processes of these.
  Exchange(Control& job, const Team& group_team, const std::vector<Seat>& group_seats)
      : control(job), team(group_team), seats(group_seats), in_order_(seats.size()) {
    std::iota(in_order_.begin(), in_order_.end(), 0);
    std::sort(in_order_.begin(), in_order_.end(),
              [&](int a, int b) { return seat(a).world_rank < seat(b).world_rank; });
    for (const int rank : in_order_)
      if (seat(rank).process == job.process()) local_.push_back(rank);
    next_.resize(local_.size());
  }

  // As the calls of ControlChannel, by the thread of `rank`; broadcast gives one text. The last
  // thread of this process to come calls the other processes. Of a gather that is the thread of
  // rank 0, if this process has it.
  std::vector<std::string> exchange(ExchangeKind kind, int rank, std::string_view bytes,
                                    double limit_s) {
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

  // Makes every exchange fail from now on; thread-safe.
  void fail(const Failure& why) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = why;
    changed_.notify_all();
  }

  Control& control;
  const Team team;
  const std::vector<Seat> seats;

 private:
  // One exchange: what this process's threads bring, and what comes out for them.
  struct Turn {
    ExchangeKind kind = ExchangeKind::all_gather;
    int first = 0;                               // the rank that came first
    std::vector<std::optional<std::string>> in;  // by position in local_
    std::size_t arrived = 0;
    std::optional<std::vector<std::string>> out;

    bool complete() const { return arrived == in.size(); }
  };

  const Seat& seat(int rank) const { return seats[static_cast<std::size_t>(rank)]; }

  // Adds `bytes` to the next exchange of `rank`.
  std::shared_ptr<Turn> join(ExchangeKind kind, int rank, std::string_view bytes) {
    const auto place =
        static_cast<std::size_t>(std::find(local_.begin(), local_.end(), rank) - local_.begin());
    const std::size_t ahead = next_[place]++ - first_;
    if (ahead == open_.size())
      open_.push_back(std::make_shared<Turn>(
          Turn{kind, rank, std::vector<std::optional<std::string>>(local_.size()), 0, {}}));
    std::shared_ptr<Turn> turn = open_[ahead];
    if (turn->kind != kind)
      fail_here({exit_code(Exit::failed),
                 fmt::format("different calls at once: rank {} called {}, rank {} called {}",
                             seat(turn->first).world_rank, name_of(turn->kind),
                             seat(rank).world_rank, name_of(kind))});
    turn->in[place] = std::string(bytes);
    ++turn->arrived;
    if (turn->complete()) {  // each thread comes to one after the other: it is the oldest
      open_.pop_front();
      ++first_;
      changed_.notify_all();
    }
    return turn;
  }

  bool calls_processes(const Turn& turn, int rank) const {
    const bool has_root = seats.front().process == control.process();
    if (turn.kind == ExchangeKind::gather && has_root) return rank == 0;
    return turn.complete();
  }

  void wait_for_threads(std::unique_lock<std::mutex>& lock, const Turn& turn, TimePoint deadline) {
    changed_.wait_until(lock, deadline, [&] { return turn.complete() || failure_; });
    if (turn.complete()) return;
    if (failure_) throw_failure(*failure_);
    std::vector<int> missing;
    for (std::size_t i = 0; i < local_.size(); ++i)
      if (!turn.in[i]) missing.push_back(seat(local_[i]).world_rank);
    fail_here({exit_code(Exit::timed_out),
               fmt::format("did not come to an exchange in time: rank {} (thread of this process)",
                           fmt::join(missing, ", "))});
  }

  [[noreturn]] void fail_here(const Failure& why) {
    failure_ = why;
    changed_.notify_all();
    throw_failure(why);
  }

  std::vector<std::string> between_processes(const Turn& complete, double limit_s) {
    try {
      if (complete.kind == ExchangeKind::broadcast) {
        const auto root = std::find(local_.begin(), local_.end(), 0);
        const std::string own = root == local_.end()
                                    ? std::string()
                                    : *complete.in[static_cast<std::size_t>(root - local_.begin())];
        return control.exchange(complete.kind, team, own, limit_s);
      }
      std::vector<std::string> own;
      for (const std::optional<std::string>& bytes : complete.in) own.push_back(*bytes);
      const auto processes = control.exchange(complete.kind, team, pack(own), limit_s);
      if (complete.kind == ExchangeKind::gather && team.root != control.process()) return {};
      return unpack_all(processes);
    } catch (const Error& error) {
      fail({exit_code(error.code()), error.what()});
      throw;
    }
  }

  std::vector<std::string> unpack_all(const std::vector<std::string>& processes) const {
    std::vector<std::string> all(seats.size());
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

  std::vector<int> local_;     // ranks whose seat is in this process, ascending by world rank
  std::vector<int> in_order_;  // ranks in the order in which the processes' bytes come
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::shared_ptr<Turn>> open_;  // that some thread has not come to, oldest first
  std::uint64_t first_ = 0;                 // the number of open_.front()
  std::vector<std::uint64_t> next_;         // of each of local_: the number of its next exchange
  std::optional<Failure> failure_;
};

// Exchanges of this process, by team: the first thread of a group makes one, the others join it.
class ThreadRanks::Exchanges {
 public:
  std::shared_ptr<Exchange> join(Control& control, const Team& team,
                                 const std::vector<Seat>& seats) {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<Exchange>& known = exchanges_[team.name];
    std::shared_ptr<Exchange> exchange = known.lock();
    if (!exchange) {
      exchange = std::make_shared<Exchange>(control, team, seats);
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
  std::map<std::string, std::weak_ptr<Exchange>> exchanges_;  // by team
  std::optional<Failure> failure_;
};

class ThreadRanks::Rank : public ControlChannel {
 public:
  Rank(std::shared_ptr<Exchanges> exchanges, std::shared_ptr<Exchange> exchange, int rank)
      : exchanges_(std::move(exchanges)), exchange_(std::move(exchange)), rank_(rank) {}
  int rank() const override { return rank_; }
  int ranks() const override { return static_cast<int>(exchange_->seats.size()); }
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
    return exchange_->control.local_addresses();
  }

  std::unique_ptr<ControlChannel> split(int color, int key, double limit_s) override {
    const int number = splits_++;
    const auto wishes = all_gather(to_bytes(std::array{color, key}), limit_s);
    if (color < 0) return nullptr;
    std::set<std::pair<int, int>> group;  // keys and ranks, in the order of the new ranks
    for (int r = 0; r < ranks(); ++r) {
      const auto [its_color, its_key] =
          from_bytes<std::array<int, 2>>(wishes[static_cast<std::size_t>(r)]);
      if (its_color == color) group.emplace(its_key, r);
    }
    std::vector<Seat> seats;
    for (const auto& [its_key, r] : group)
      seats.push_back(exchange_->seats[static_cast<std::size_t>(r)]);
    const auto mine = std::distance(group.begin(), group.find({key, rank_}));
    const Team team = team_of(fmt::format("{}/{}.{}", exchange_->team.name, number, color), seats);
    return std::make_unique<Rank>(exchanges_, exchanges_->join(exchange_->control, team, seats),
                                  static_cast<int>(mine));
  }

 private:
  std::shared_ptr<Exchanges> exchanges_;
  std::shared_ptr<Exchange> exchange_;
  int rank_;
  int splits_ = 0;  // so far; the same on all ranks
};

ThreadRanks::ThreadRanks(Control& control, int threads)
    : control_(control), exchanges_(std::make_shared<Exchanges>()) {
  std::vector<Seat> seats;
  for (int rank = 0; rank < control.processes() * threads; ++rank)
    seats.push_back({rank / threads, rank});
  const auto world = exchanges_->join(control, Team{}, seats);
  for (int t = 0; t < threads; ++t)
    ranks_.push_back(std::make_unique<Rank>(exchanges_, world, control.process() * threads + t));
}

void ThreadRanks::abort(const std::string& why) noexcept {
  const Failure failure{exit_code(Exit::failed), why};
  exchanges_->fail(failure);
  control_.abort(failure);
}

}  // namespace ccl_tests
