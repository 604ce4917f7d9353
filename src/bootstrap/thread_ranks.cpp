#include "src/bootstrap/thread_ranks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <mutex>
#include <optional>
#include <tuple>
#include <utility>

#include "src/bootstrap/meeting.hpp"
#include "src/core/error.hpp"

namespace ccl_tests {

// The meetings of this process: a group's first thread makes its meeting, the others join it.
class ThreadRanks::Meetings {
 public:
  std::shared_ptr<Meeting> join(Control& control, const Team& team,
                                const std::vector<Seat>& seats) {
    const std::lock_guard lock(mutex_);
    std::weak_ptr<Meeting>& known = meetings_[team.name];
    std::shared_ptr<Meeting> meeting = known.lock();
    if (!meeting) {
      meeting = std::make_shared<Meeting>(control, team, seats);
      known = meeting;
      if (failure_) meeting->fail(*failure_);
    }
    return meeting;
  }

  void fail(const Failure& why) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = why;
    for (const auto& [name, known] : meetings_)
      if (const auto meeting = known.lock()) meeting->fail(why);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::weak_ptr<Meeting>> meetings_;  // by team
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
  Rank(std::shared_ptr<Meetings> meetings, std::shared_ptr<Meeting> meeting, int rank)
      : meetings_(std::move(meetings)), meeting_(std::move(meeting)), rank_(rank) {}
  int rank() const override { return rank_; }
  int ranks() const override { return static_cast<int>(meeting_->seats().size()); }
  std::vector<std::string> all_gather(std::string_view bytes, double limit_s) override {
    return meeting_->exchange(ExchangeKind::all_gather, rank_, bytes, limit_s);
  }
  std::vector<std::string> gather(std::string_view bytes, double limit_s) override {
    return meeting_->exchange(ExchangeKind::gather, rank_, bytes, limit_s);
  }
  std::string broadcast(std::string_view bytes, double limit_s) override {
    return meeting_->exchange(ExchangeKind::broadcast, rank_, bytes, limit_s).front();
  }

  std::unique_ptr<ControlChannel> split(int color, int key, double limit_s) override {
    const int number = splits_++;
    std::vector<Wish> group;
    const auto wishes = all_gather(to_text({color, key, 0, {}}), limit_s);
    if (color < 0) return nullptr;
    for (int r = 0; r < ranks(); ++r) {
      const auto at = static_cast<std::size_t>(r);
      const Wish wish = to_wish(wishes[at], r, meeting_->seats()[at]);
      if (wish.color == color) group.push_back(wish);
    }
    std::sort(group.begin(), group.end(), [](const Wish& a, const Wish& b) {
      return std::tie(a.key, a.rank) < std::tie(b.key, b.rank);
    });
    const auto mine = std::find_if(group.begin(), group.end(),
                                   [&](const Wish& wish) { return wish.rank == rank_; });
    std::vector<Seat> seats;
    for (const Wish& wish : group) seats.push_back(wish.seat);
    const Team team = team_of(fmt::format("{}/{}.{}", meeting_->name(), number, color), seats);
    return std::make_unique<Rank>(meetings_, meetings_->join(meeting_->control(), team, seats),
                                  static_cast<int>(mine - group.begin()));
  }

 private:
  std::shared_ptr<Meetings> meetings_;
  std::shared_ptr<Meeting> meeting_;
  int rank_;
  int splits_ = 0;  // so far; the same on all ranks
};

ThreadRanks::ThreadRanks(Control& control, int threads)
    : control_(control), meetings_(std::make_shared<Meetings>()) {
  std::vector<Seat> seats;
  for (int process = 0; process < control.processes(); ++process) {
    for (int t = 0; t < threads; ++t) seats.push_back({process, process * threads + t});
  }
  world_ = meetings_->join(control, Team{}, seats);
  for (int t = 0; t < threads; ++t)
    ranks_.push_back(std::make_unique<Rank>(meetings_, world_, control.process() * threads + t));
}

ThreadRanks::~ThreadRanks() = default;

ControlChannel& ThreadRanks::rank(int thread) {
  return *ranks_.at(static_cast<std::size_t>(thread));
}

void ThreadRanks::abort(const std::string& why) noexcept {
  meetings_->fail({exit_code(Exit::failed), why});
  control_.abort(exit_code(Exit::failed), why);
}

}  // namespace ccl_tests
