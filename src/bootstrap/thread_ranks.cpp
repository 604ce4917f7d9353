#include "src/bootstrap/thread_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include "src/bootstrap/thread_exchange.hpp"
#include "src/core/error.hpp"

namespace ccl_tests {

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

struct Wish {  // for a group
  int color, key, rank;
  Seat seat;
};

std::string to_text(const Wish& wish) { return fmt::format("{} {}", wish.color, wish.key); }

Wish to_wish(const std::string& text, int rank, const Seat& seat) {
  const std::size_t space = text.find(' ');
  return {std::stoi(text), std::stoi(text.substr(space)), rank, seat};
}

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
    const auto wishes = all_gather(to_text({color, key, 0, {}}), limit_s);
    if (color < 0) return nullptr;
    for (int r = 0; r < ranks(); ++r) {
      const auto at = static_cast<std::size_t>(r);
      const Wish wish = to_wish(wishes[at], r, exchange_->seats()[at]);
      if (wish.color == color) group.push_back(wish);
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
  exchanges_->fail({exit_code(Exit::failed), why});
  control_.abort(exit_code(Exit::failed), why);
}

}  // namespace ccl_tests
