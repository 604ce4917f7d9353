#include "src/bootstrap/meeting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "src/bootstrap/control_frame.hpp"
#include "src/bootstrap/deadline.hpp"
#include "src/core/error.hpp"

namespace ccl_tests {

// One exchange: what this process's threads bring, and what comes out for all ranks.
struct Meeting::Gathering {
  std::vector<std::optional<std::string>> in;  // by position in local_
  std::size_t arrived = 0;
  std::optional<std::vector<std::string>> out;
};

Meeting::Meeting(Control& control, Team team, std::vector<Seat> seats)
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
  renew();
}

void Meeting::renew() {
  gathering_ = std::make_shared<Gathering>();
  gathering_->in.resize(local_.size());
}

void Meeting::fail(const Failure& why) {
  const std::lock_guard lock(mutex_);
  if (!failure_) failure_ = why;
  changed_.notify_all();
}

std::vector<std::string> Meeting::all_gather(int rank, std::string_view bytes, double limit_s) {
  const TimePoint deadline = deadline_of_limit(limit_s);
  const auto place = std::find(local_.begin(), local_.end(), rank) - local_.begin();
  std::unique_lock lock(mutex_);
  if (failure_) throw_failure(*failure_);
  const std::shared_ptr<Gathering> mine = gathering_;
  mine->in[static_cast<std::size_t>(place)] = std::string(bytes);
  if (++mine->arrived == local_.size()) {
    renew();
    lock.unlock();
    std::vector<std::string> all = between_processes(*mine, limit_s);
    lock.lock();
    if (failure_) throw_failure(*failure_);
    mine->out = all;
    changed_.notify_all();
    return all;
  }
  const auto over = [&] { return mine->out || failure_; };
  changed_.wait_until(lock, deadline, [&] { return over() || mine->arrived == local_.size(); });
  if (mine->arrived == local_.size()) changed_.wait(lock, over);  // the last one's wait has a limit
  if (mine->out) return *mine->out;
  if (!failure_) {
    failure_ = Failure{exit_code(Exit::timed_out), missing(*mine)};
    changed_.notify_all();
  }
  throw_failure(*failure_);
}

std::vector<std::string> Meeting::between_processes(const Gathering& complete, double limit_s) {
  std::vector<std::string> own;
  for (const std::optional<std::string>& bytes : complete.in) own.push_back(*bytes);
  try {
    std::vector<std::string> all(seats_.size());
    std::size_t next = 0;
    for (const std::string& packed : control_.all_gather(team_, pack(own), limit_s)) {
      for (std::string& bytes : unpack(packed)) {
        if (next == all.size()) throw Error("the processes have different numbers of ranks");
        all[static_cast<std::size_t>(in_order_[next++])] = std::move(bytes);
      }
    }
    if (next != all.size()) throw Error("the processes have different numbers of ranks");
    return all;
  } catch (const Error& error) {
    fail({exit_code(error.code()), error.what()});
    throw;
  }
}

std::string Meeting::missing(const Gathering& incomplete) const {
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
