#include "src/job/activity.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "src/core/clock.hpp"
#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/core/thread.hpp"

namespace ccl_tests {

void Activity::row(std::string what) {
  said_(what);
  const std::lock_guard lock(mutex_);
  if (row_ != what) first_beat_ = (beats() + 1) & ~std::uint64_t{1};
  row_ = std::move(what);
  phase_.clear();
  since_ = monotonic_seconds();
}

void Activity::phase(std::string what) {
  said_(what);
  const std::lock_guard lock(mutex_);
  phase_ = std::move(what);
  row_.clear();
}

std::string Activity::text() const {
  const std::lock_guard lock(mutex_);
  return row_.empty() ? phase_ : row_;
}

RankStatus Activity::status(int rank) const {
  const std::lock_guard lock(mutex_);
  if (row_.empty()) return {rank, 0, phase_};
  const std::uint64_t now = beats();
  return {rank, now > first_beat_ ? now - first_beat_ : 0, row_};
}

double Activity::seconds_in_row() const {
  const std::lock_guard lock(mutex_);
  return row_.empty() ? 0 : monotonic_seconds() - since_;
}

Heartbeat::Heartbeat(const Activity& activity, const std::string& program, const std::string& path)
    : activity_(activity),
      program_(program),
      out_(path.empty() ? stderr : std::fopen(path.c_str(), "a")),
      terminal_(path.empty() && isatty(fileno(stderr)) != 0) {
  if (out_ == nullptr)
    throw UsageError(fmt::format("--heartbeat: cannot write {}: {}; accepted: a writable file",
                                 quote(path, shown_path_characters), std::strerror(errno)));
}

void Heartbeat::begin() {
  thread_ = start_thread<std::jthread>([this](const std::stop_token& stop) { beat(stop); });
}

Heartbeat::~Heartbeat() {
  thread_ = {};  // ends the one that writes
  if (out_ != stderr) std::fclose(out_);
}

void Heartbeat::clear() {
  const std::lock_guard lock(mutex_);
  wipe();
}

void Heartbeat::show(const std::string& text) {
  const bool written = std::fputs(text.c_str(), out_) >= 0 && std::fflush(out_) == 0;
  if (!written && out_ != stderr && lost_.empty())
    lost_ = fmt::format("--heartbeat: a line cannot be written: {}", std::strerror(errno));
}

std::string Heartbeat::lost() const {
  const std::lock_guard lock(mutex_);
  return lost_;
}

void Heartbeat::wipe() {
  if (shown_) show("\r\033[K");
  shown_ = false;
}

void Heartbeat::beat(const std::stop_token& stop) {
  while (wait_unless_stopped(stop, terminal_ ? 0.5 : 10)) {
    const std::lock_guard lock(mutex_);
    const double seconds = activity_.seconds_in_row();
    const std::string since = seconds < 1 ? "" : fmt::format(" ({:.0f} s)", seconds);
    const std::string line = fmt::format("{}: {}{}", program_, activity_.text(), since);
    show(terminal_ ? fmt::format("\r\033[K{:.78}", line) : fmt::format("# {}\n", line));
    shown_ = terminal_;
  }
  clear();
}

std::string stuck_text(double stuck_s) {
  return fmt::format("inside the library for {:.0f} s without an end", stuck_s);
}

namespace {

void watch(const std::stop_token& stop, const Activity& activity,
           const std::function<void(double)>& on_stuck) {
  std::uint64_t seen = activity.beats();
  double since_s = monotonic_seconds();
  double limit_s = activity.limit_s();
  while (wait_unless_stopped(stop, limit_s > 0 ? std::clamp(limit_s / 10, 0.01, 1.0) : 1.0)) {
    limit_s = activity.limit_s();  // once, and before the beats: expect() sets it after them
    const std::uint64_t beats = activity.beats();
    const double now_s = monotonic_seconds();
    if (beats != seen || limit_s <= 0) {
      seen = beats;
      since_s = now_s;
    } else if (now_s - since_s >= limit_s) {
      return on_stuck(now_s - since_s);
    }
  }
}

}  // namespace

std::jthread start_watchdog(const Activity& activity, std::function<void(double)> on_stuck) {
  return start_thread<std::jthread>(
      [&activity, on_stuck = std::move(on_stuck)](const std::stop_token& stop) {
        watch(stop, activity, on_stuck);
      });
}

}  // namespace ccl_tests
