#include "src/run/soak.hpp"

#include <fmt/format.h>

#include <sstream>

#include "src/core/clock.hpp"
#include "src/devices/process_counters.hpp"
#include "src/record/quantity_text.hpp"

namespace ccl_tests {

SoakClock::SoakClock(Rank& rank, double duration_s, RunResults& results)
    : rank_(rank),
      duration_s_(duration_s),
      results_(results),
      start_s_(monotonic_seconds()),
      next_s_(start_s_) {}

double SoakClock::elapsed_s() const { return monotonic_seconds() - start_s_; }

// What there is so far is kept once a minute, for the footer of a run that is ended sooner.
bool SoakClock::is_over() {
  if (duration_s_ <= 0) return false;
  constexpr double each_s = 60;
  constexpr int goes_on = 0, over = 1, minute = 2;
  const double now = monotonic_seconds();
  const int state = rank_.agree(elapsed_s() >= duration_s_ ? over
                                : now >= next_s_           ? minute
                                                           : goes_on);
  if (state == minute) {
    next_s_ = now + each_s;
    so_far_ = found();
    if (so_far_) results_.after_rows({.soak = so_far_});
    if (rank_.is_first() && elapsed_s() >= each_s) say_progress();
  }
  return state == over;
}

void SoakClock::say_progress() {
  const RunSummary counts = results_.so_far();
  rank_.process().log(fmt::format("{:.0f} of {:.0f} min: {}, {} of {} verified, {}, {:.1f} MiB",
                                  elapsed_s() / 60, duration_s_ / 60, counted(cycles_, "cycle"),
                                  counts.verified_calls, counted(counts.calls, "operation"),
                                  counted(counts.failed_checks, "wrong result"),
                                  static_cast<double>(resident_bytes()) / (1 << 20)));
}

void SoakClock::end_cycle() {
  if (++cycles_ == 1) first_bytes_ = resident_bytes();
  if (!so_far_) return;
  so_far_->seconds = elapsed_s();
  so_far_->cycles = cycles_;
  results_.after_rows({.soak = so_far_});
}

std::optional<Soak> SoakClock::found() {
  if (duration_s_ <= 0) return std::nullopt;
  const double seconds = elapsed_s();
  const std::size_t now = resident_bytes();
  const std::size_t first = first_bytes_ > 0 ? first_bytes_ : now;
  const auto all = rank_.world().all_gather(fmt::format("{} {}", first, now), rank_.limit_s());
  if (!rank_.is_first()) return std::nullopt;
  Soak soak{.seconds = seconds, .cycles = cycles_};
  for (std::size_t r = 0; r < all.size(); ++r) {
    double before = 0, after = 0;
    std::istringstream(all[r]) >> before >> after;
    if (r > 0 && after - before <= soak.last_bytes - soak.first_bytes) continue;
    soak.rank = static_cast<int>(r);
    soak.first_bytes = before;
    soak.last_bytes = after;
  }
  return soak;
}

}  // namespace ccl_tests
