#include "src/job/signals.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "src/core/deadline.hpp"
#include "src/core/error.hpp"
#include "src/core/thread.hpp"
#include "src/core/write_all.hpp"

namespace ccl_tests {

SignalWatch::SignalWatch(std::function<void(int)> on_signal) : on_signal_(std::move(on_signal)) {
  signals_.block();
  thread_ = start_thread([this] { watch(); });
}

SignalWatch::~SignalWatch() {
  signals_.wake();
  thread_.join();
}

void SignalWatch::watch() const {
  signals_.unblock();
  constexpr double same_wish_s = 0.5;
  std::optional<TimePoint> again_from;
  while (const int signal = signals_.wait()) {
    if (!again_from) {
      again_from = deadline_in(same_wish_s);
      on_signal_(signal);
    } else if (is_urgent_again(signal) && std::chrono::steady_clock::now() >= *again_from) {
      std::_Exit(128 + signal);
    }
  }
}

namespace {

// Outlives the watch: what a library's threads throw while the process ends finds it empty.
struct State {
  std::mutex mutex;  // held during the call
  std::function<void(const std::string&)> on_uncaught;
  bool happened = false;
  std::thread::id main_thread;
};

State& state() {
  static auto* const instance = new State;  // never destroyed, as threads may end after main
  return *instance;
}

std::string current_what() {
  const std::exception_ptr thrown = std::current_exception();
  if (!thrown) return "std::terminate was called";
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& e) {
    return e.what();
  } catch (...) {
    return "an exception of unknown type";
  }
}

[[noreturn]] void end_thread() {
  const std::string what = "a thread of the library ended by an exception: " + current_what();
  if (std::this_thread::get_id() == state().main_thread) {
    print_error(what + "\n");
  } else {
    {
      const std::lock_guard lock(state().mutex);
      if (state().on_uncaught && !std::exchange(state().happened, true)) state().on_uncaught(what);
    }
    std::this_thread::sleep_for(std::chrono::minutes(1));
  }
  std::fflush(nullptr);
  std::_Exit(exit_code(Exit::failed));
}

}  // namespace

UncaughtWatch::UncaughtWatch(std::function<void(const std::string&)> on_uncaught) {
  const std::lock_guard lock(state().mutex);
  state().on_uncaught = std::move(on_uncaught);
  state().happened = false;
  state().main_thread = std::this_thread::get_id();
  std::set_terminate(end_thread);
}

UncaughtWatch::~UncaughtWatch() {
  const std::lock_guard lock(state().mutex);
  state().on_uncaught = nullptr;
}

bool UncaughtWatch::happened() const {
  const std::lock_guard lock(state().mutex);
  return state().happened;
}

}  // namespace ccl_tests
