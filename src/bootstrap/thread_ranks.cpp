#include "src/bootstrap/thread_ranks.hpp"

#include <fmt/format.h>

#include <condition_variable>
#include <mutex>
#include <optional>

#include "src/bootstrap/control_frame.hpp"
#include "src/bootstrap/deadline.hpp"
#include "src/core/error.hpp"

namespace ccl {
namespace {

// One exchange: what this process's threads bring, and what comes out for all ranks.
struct Gathering {
  std::vector<std::optional<std::string>> in;
  std::size_t arrived = 0;
  std::optional<std::vector<std::string>> out;
};

}  // namespace

struct ThreadRanks::Meeting {
  Meeting(Control& c, int n) : control(c), threads(static_cast<std::size_t>(n)) { renew(); }

  void renew() {
    gathering = std::make_shared<Gathering>();
    gathering->in.resize(threads);
  }

  void fail(const Failure& why) {
    const std::lock_guard lock(mutex);
    if (!failure) failure = why;
    changed.notify_all();
  }

  std::vector<std::string> exchange(std::size_t thread, std::string_view bytes, double limit_s);
  std::vector<std::string> between_processes(const Gathering& complete, double limit_s);
  std::string missing(const Gathering& incomplete) const;

  Control& control;
  const std::size_t threads;
  std::mutex mutex;
  std::condition_variable changed;
  std::shared_ptr<Gathering> gathering;  // the one that threads join now
  std::optional<Failure> failure;
};

// The last thread to come speaks for all.
std::vector<std::string> ThreadRanks::Meeting::exchange(std::size_t thread, std::string_view bytes,
                                                        double limit_s) {
  const Deadline deadline = deadline_of_limit(limit_s);
  std::unique_lock lock(mutex);
  if (failure) throw_failure(*failure);
  const std::shared_ptr<Gathering> mine = gathering;
  mine->in[thread] = std::string(bytes);
  if (++mine->arrived == threads) {
    renew();
    lock.unlock();
    std::vector<std::string> all = between_processes(*mine, limit_s);
    lock.lock();
    if (failure) throw_failure(*failure);
    mine->out = all;
    changed.notify_all();
    return all;
  }
  const auto over = [&] { return mine->out || failure; };
  changed.wait_until(lock, deadline, [&] { return over() || mine->arrived == threads; });
  if (mine->arrived == threads) changed.wait(lock, over);  // the last thread's wait has a limit
  if (mine->out) return *mine->out;
  if (!failure) {
    failure = Failure{exit_code(Exit::timed_out), missing(*mine)};
    changed.notify_all();
  }
  throw_failure(*failure);
}

std::vector<std::string> ThreadRanks::Meeting::between_processes(const Gathering& complete,
                                                                 double limit_s) {
  std::vector<std::string> own;
  for (const std::optional<std::string>& bytes : complete.in) own.push_back(*bytes);
  try {
    std::vector<std::string> all;
    for (const std::string& packed : control.exchange(pack(own), limit_s)) {
      for (std::string& bytes : unpack(packed)) all.push_back(std::move(bytes));
    }
    if (all.size() != threads * static_cast<std::size_t>(control.processes())) {
      throw Error("the processes have different numbers of ranks");
    }
    return all;
  } catch (const Error& error) {
    fail({exit_code(error.code()), error.what()});
    throw;
  }
}

std::string ThreadRanks::Meeting::missing(const Gathering& incomplete) const {
  std::string ranks;
  for (std::size_t t = 0; t < threads; ++t) {
    if (incomplete.in[t]) continue;
    const std::size_t rank = static_cast<std::size_t>(control.process()) * threads + t;
    ranks += fmt::format("{}{}", ranks.empty() ? "" : ", ", rank);
  }
  return fmt::format("did not come to an exchange in time: rank {} (thread of this process)",
                     ranks);
}

class ThreadRanks::Rank : public Bootstrap {
 public:
  Rank(Meeting& meeting, std::size_t thread) : meeting_(meeting), thread_(thread) {}
  int rank() const override {
    return meeting_.control.process() * static_cast<int>(meeting_.threads) +
           static_cast<int>(thread_);
  }
  int ranks() const override {
    return meeting_.control.processes() * static_cast<int>(meeting_.threads);
  }
  std::vector<std::string> exchange(std::string_view bytes, double limit_s) override {
    return meeting_.exchange(thread_, bytes, limit_s);
  }

 private:
  Meeting& meeting_;
  std::size_t thread_;
};

ThreadRanks::ThreadRanks(Control& control, int threads)
    : meeting_(std::make_unique<Meeting>(control, threads)) {
  for (std::size_t t = 0; t < meeting_->threads; ++t) {
    ranks_.push_back(std::make_unique<Rank>(*meeting_, t));
  }
}

ThreadRanks::~ThreadRanks() = default;

Bootstrap& ThreadRanks::rank(int thread) { return *ranks_.at(static_cast<std::size_t>(thread)); }

void ThreadRanks::abort(const std::string& why) noexcept {
  meeting_->fail({exit_code(Exit::failed), why});
  meeting_->control.abort(exit_code(Exit::failed), why);
}

}  // namespace ccl
