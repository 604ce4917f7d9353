#include "src/job/thread_stack.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <future>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "src/core/thread.hpp"

namespace ccl_tests {
namespace {

constexpr int most_frames = 48;
constexpr std::size_t most_names = 16;

// The data that a signal handler can reach. A thread that answers late writes nothing.
enum class Answer { none, asked, being_written, written };
std::atomic<Answer> answer = Answer::none;
std::atomic<pthread_t> asked_thread = pthread_t();
std::array<void*, most_frames> frames;
int frame_count = 0;

int stack_signal() { return SIGRTMIN + 6; }  // the first two are the C library's

void answer_signal(int /*signal*/) {
  const int error = errno;
  Answer expected = Answer::asked;
  const bool meant = pthread_equal(asked_thread.load(), pthread_self()) != 0;
  if (meant && answer.compare_exchange_strong(expected, Answer::being_written)) {
    frame_count = backtrace(frames.data(), most_frames);
    answer.store(Answer::written);
  }
  errno = error;
}

// Returns false if the signal is used by somebody else.
bool install_handler() {
  struct sigaction now {};
  if (sigaction(stack_signal(), nullptr, &now) != 0) return false;
  if (now.sa_handler == answer_signal) return true;
  if (now.sa_handler != SIG_DFL) return false;
  struct sigaction mine {};
  mine.sa_handler = answer_signal;
  mine.sa_flags = SA_RESTART;
  return sigaction(stack_signal(), &mine, nullptr) == 0;
}

// Empty: not known.
std::string name_of(void* address) {
  Dl_info info{};
  // A return address may be the first one behind its function.
  if (dladdr(static_cast<char*>(address) - 1, &info) == 0) return {};
  if (info.dli_sname != nullptr) return short_function_name(info.dli_sname);
  const std::string file = info.dli_fname != nullptr ? info.dli_fname : "";
  return file.substr(file.rfind('/') + 1);
}

std::string names_of(void* const* begin, void* const* end) {
  std::vector<std::string> names;
  for (void* const* frame = begin; frame != end && names.size() < most_names; ++frame) {
    std::string name = name_of(*frame);
    if (name == "run_ranks") break;  // every rank comes from there
    if (!name.empty() && (names.empty() || names.back() != name)) names.push_back(std::move(name));
  }
  return fmt::format("{}", fmt::join(names, " <- "));
}

}  // namespace

std::string short_function_name(const char* symbol) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(
      abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
  if (status != 0 || !demangled) return symbol;
  constexpr std::string_view anonymous = "(anonymous namespace)::", ours = "ccl_tests::";
  std::string_view rest = demangled.get();
  std::string name;
  int depth = 0;  // of template arguments
  while (!rest.empty()) {
    for (const std::string_view skipped : {ours, anonymous})
      if (rest.starts_with(skipped)) rest.remove_prefix(skipped.size());
    if (rest.empty() || rest.front() == '(' || rest.starts_with("::{lambda")) break;
    const char c = rest.front();
    rest.remove_prefix(1);
    if (c == '<') ++depth;
    if (depth == 0) name += c;
    if (c == '>') --depth;
    if (c == ' ' && depth == 0) name.clear();  // what stands before it is the type of the result
  }
  return name;
}

std::string stack_of(pthread_t thread, double limit_s) {
  using Clock = std::chrono::steady_clock;
  static std::mutex one_at_a_time;
  const std::lock_guard lock(one_at_a_time);
  if (!install_handler()) return {};
  void* frame = nullptr;
  backtrace(&frame, 1);  // the first use loads a library, which a signal handler must not
  asked_thread = thread;
  answer = Answer::asked;
  if (pthread_kill(thread, stack_signal()) != 0) return {};
  const Clock::time_point end = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                                   std::chrono::duration<double>(limit_s));
  while (answer != Answer::written) {
    Answer expected = Answer::asked;
    if (Clock::now() > end && answer.compare_exchange_strong(expected, Answer::none)) return {};
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  constexpr int of_the_handler = 2;  // itself, and the kernel's way back
  if (frame_count <= of_the_handler) return {};
  return names_of(frames.data() + of_the_handler, frames.data() + frame_count);
}

struct RankStacks::State {
  std::mutex mutex;  // held while a thread is asked: it does not end then
  std::vector<std::optional<pthread_t>> ranks;
};

RankStacks::RankStacks(int ranks) : state_(std::make_shared<State>()) {
  state_->ranks.resize(static_cast<std::size_t>(ranks));
}

void RankStacks::begin(int rank) {
  const std::lock_guard lock(state_->mutex);
  state_->ranks[static_cast<std::size_t>(rank)] = pthread_self();
}

void RankStacks::end(int rank) {
  const std::lock_guard lock(state_->mutex);
  state_->ranks[static_cast<std::size_t>(rank)].reset();
}

// A rank may hang in the loader, which then lets nobody else look up a name.
std::vector<std::pair<int, std::string>> RankStacks::texts(double limit_s) const {
  using Texts = std::vector<std::pair<int, std::string>>;
  std::packaged_task<Texts()> task([state = state_, limit_s] {
    Texts texts;
    const std::lock_guard lock(state->mutex);
    for (std::size_t r = 0; r < state->ranks.size(); ++r) {
      if (!state->ranks[r]) continue;
      std::string text =
          stack_of(*state->ranks[r], limit_s / 2 / static_cast<double>(state->ranks.size()));
      if (!text.empty()) texts.emplace_back(static_cast<int>(r), std::move(text));
    }
    return texts;
  });
  std::future<Texts> future = task.get_future();
  start_thread(std::move(task)).detach();
  if (future.wait_for(std::chrono::duration<double>(limit_s)) != std::future_status::ready)
    return {};
  return future.get();
}

}  // namespace ccl_tests
