#include "src/uncaught.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <thread>
#include <utility>

#include "src/core/error.hpp"

namespace ccl {
namespace {

std::atomic<UncaughtWatch*> current = nullptr;
std::thread::id main_thread;

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

}  // namespace

void end_thread() {
  const std::string what = "a thread of the library ended by an exception: " + current_what();
  if (std::this_thread::get_id() == main_thread) {
    fmt::print(stderr, "{}\n", what);
  } else {
    if (UncaughtWatch* const watch = current) {
      watch->happened_ = true;
      watch->on_uncaught_(what);
    }
    std::this_thread::sleep_for(std::chrono::minutes(1));
  }
  std::fflush(nullptr);
  std::_Exit(exit_code(Exit::failed));
}

UncaughtWatch::UncaughtWatch(std::function<void(const std::string&)> on_uncaught)
    : on_uncaught_(std::move(on_uncaught)) {
  main_thread = std::this_thread::get_id();
  current = this;
  std::set_terminate(end_thread);
}

// The handler stays: what a library's threads throw while the process ends changes nothing.
UncaughtWatch::~UncaughtWatch() { current = nullptr; }

}  // namespace ccl
