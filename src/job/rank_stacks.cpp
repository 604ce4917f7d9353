#include "src/job/rank_stacks.hpp"

#include <chrono>
#include <cstddef>
#include <future>
#include <mutex>
#include <optional>
#include <thread>

#include "src/core/thread.hpp"
#include "src/job/thread_stack.hpp"

namespace ccl_tests {

struct RankStacks::State {
  std::mutex mutex;  // held while a thread is asked: it does not end then
  std::vector<std::optional<ThreadStack>> ranks;
};

RankStacks::RankStacks(int ranks) : state_(std::make_shared<State>()) {
  state_->ranks.resize(static_cast<std::size_t>(ranks));
}

RankStacks::~RankStacks() = default;

void RankStacks::begin(int rank) {
  const std::lock_guard lock(state_->mutex);
  state_->ranks[static_cast<std::size_t>(rank)].emplace();
}

void RankStacks::end(int rank) {
  const std::lock_guard lock(state_->mutex);
  state_->ranks[static_cast<std::size_t>(rank)].reset();
}

// A rank may hang in the loader, which then lets nobody else look up a name.
std::vector<std::pair<int, std::string>> RankStacks::texts(double limit_s) const {
  using Texts = std::vector<std::pair<int, std::string>>;
  std::promise<Texts> promise;
  std::future<Texts> future = promise.get_future();
  std::thread asking =
      start_thread([state = state_, promise = std::move(promise), limit_s]() mutable {
        Texts texts;
        const std::lock_guard lock(state->mutex);
        for (std::size_t r = 0; r < state->ranks.size(); ++r) {
          if (!state->ranks[r]) continue;
          std::string text =
              state->ranks[r]->text(limit_s / 2 / static_cast<double>(state->ranks.size()));
          if (!text.empty()) texts.emplace_back(static_cast<int>(r), std::move(text));
        }
        promise.set_value(std::move(texts));
      });
  asking.detach();
  if (future.wait_for(std::chrono::duration<double>(limit_s)) != std::future_status::ready)
    return {};
  return future.get();
}

}  // namespace ccl_tests
