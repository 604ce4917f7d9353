#include "src/run/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/measure/batch.hpp"

namespace ccl_tests {

void Progress::row(std::string what) {
  const std::lock_guard lock(mutex_);
  row_ = std::move(what);
  phase_.clear();
  since_ = monotonic_seconds();
}

void Progress::phase(std::string what) {
  const std::lock_guard lock(mutex_);
  phase_ = std::move(what);
}

std::string Progress::text() const {
  const std::lock_guard lock(mutex_);
  return row_.empty() ? phase_ : row_;
}

double Progress::seconds_in_row() const {
  const std::lock_guard lock(mutex_);
  return row_.empty() ? 0 : monotonic_seconds() - since_;
}

struct Heartbeat::State {
  const Progress& progress;
  std::string program;
  std::FILE* out = stderr;
  bool terminal = false;
  bool shown = false;  // a status line is on the terminal
  bool stop = false;
  std::mutex mutex;
  std::condition_variable changed;
  std::thread thread;

  State(const Progress& p, std::string name) : progress(p), program(std::move(name)) {}

  void wipe() {  // under mutex
    if (shown) fmt::print(out, "\r\033[K");
    std::fflush(out);
    shown = false;
  }

  void beat() {
    const auto interval =
        terminal ? std::chrono::milliseconds(500) : std::chrono::milliseconds(10'000);
    std::unique_lock lock(mutex);
    while (!changed.wait_for(lock, interval, [&] { return stop; })) {
      const std::string line =
          fmt::format("{}: {} ({:.0f} s)", program, progress.text(), progress.seconds_in_row());
      if (terminal) {
        fmt::print(out, "\r\033[K{:.78}", line);
      } else {
        fmt::print(out, "# {}\n", line);
      }
      std::fflush(out);
      shown = terminal;
    }
    wipe();
  }
};

Heartbeat::Heartbeat(const Progress& progress, const std::string& program, const std::string& path)
    : state_(std::make_unique<State>(progress, program)) {
  if (!path.empty()) {
    state_->out = std::fopen(path.c_str(), "a");
    if (state_->out == nullptr) {
      throw UsageError(fmt::format("--heartbeat: cannot write {}: {}; accepted: a writable file",
                                   quote(path, shown_path_characters), std::strerror(errno)));
    }
  }
  state_->terminal = path.empty() && isatty(fileno(stderr)) != 0;
  state_->thread = std::thread([s = state_.get()] { s->beat(); });
}

Heartbeat::~Heartbeat() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->changed.notify_all();
  state_->thread.join();
  if (state_->out != stderr) std::fclose(state_->out);
}

void Heartbeat::clear() {
  const std::lock_guard lock(state_->mutex);
  state_->wipe();
}

}  // namespace ccl_tests
