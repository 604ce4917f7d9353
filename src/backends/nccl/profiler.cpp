#include "src/backends/nccl/profiler.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "src/core/error.hpp"

namespace ccl_tests::nccl_module {
namespace {

// The binary interface, versions 3 (NCCL 2.26), 4 (2.27) and 5 (2.28; later ones adapt it), as far
// as it is used. Source: "NCCL Profiler Plugin Documentation", ext-profiler/README.md of NCCL's
// repository.
constexpr int collective_event = 1 << 1;
constexpr int message_event = 1 << 2;

// The begin of each event; the rest depends on its type.
struct Head5 {
  std::uint64_t type;
  void* parent;
  int rank;
};
struct Head4 {
  std::uint8_t type;
  void* parent;
  int rank;
};
struct Head3 {
  std::uint8_t type;
  void* parent;
  int rank;
  const char* communicator;
  std::uint64_t communicator_hash;
};
struct Collective {
  std::uint64_t number;
  const char* function;
  const void* send;
  void* recv;
  std::size_t count;
  int root;
  const char* type;
  std::uint8_t channels, warps;
  const char *algorithm, *protocol;
};
struct Message {
  const char* function;
  void* buffer;
  const char* type;
  std::size_t count;
  int peer;
  std::uint8_t channels;  // not in version 3
};

using Logger = void (*)(int level, unsigned long flags, const char* file, int line,
                        const char* format, ...);
using Init3 = int (*)(void** context, int* mask);
using Init4 = int (*)(void** context, int* mask, const char* name, std::uint64_t hash, int nodes,
                      int ranks, int rank, Logger);
using Init5 = int (*)(void** context, std::uint64_t hash, int* mask, const char* name, int nodes,
                      int ranks, int rank, Logger);

template <class Init>
struct Plugin {
  const char* name;
  Init init;
  int (*start)(void* context, void** handle, void* event);
  int (*stop)(void* handle);
  int (*record)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};

// Texts are NCCL's, which is never closed. A message has no protocol.
struct Told {
  std::string_view function, algorithm, protocol;
  int channels = 0;
  bool token = false;

  bool operator==(const Told&) const = default;
  std::string text() const {
    std::string which = fmt::format("{}{}{}", algorithm, protocol.empty() ? "" : "/", protocol);
    if (channels == 0) return which;
    return fmt::format("{}, {} channel{}", which, channels, channels == 1 ? "" : "s");
  }
};

constexpr std::size_t most_told = 16;  // of a communicator, between two calls of take()

// One of NCCL's communicators.
struct Context {
  std::atomic<const void*> token = nullptr;  // once it is known
  std::mutex mutex;                          // of what follows
  std::vector<Told> told;                    // distinct ones
};

struct Listeners {
  std::mutex mutex;
  std::map<const void*, Context*> of_token;  // null until it has been heard of
};

// Outlives NCCL's threads.
Listeners& listeners() {
  static auto* const all = new Listeners;
  return *all;
}

void meet(Context& context, const void* recv) {
  Listeners& all = listeners();
  const std::lock_guard lock(all.mutex);
  const auto found = all.of_token.find(recv);
  if (found == all.of_token.end()) return;
  found->second = &context;
  context.token = recv;
}

void remember(Context& context, const Told& told) {
  const std::lock_guard lock(context.mutex);
  std::vector<Told>& all = context.told;
  if (all.size() < most_told && std::find(all.begin(), all.end(), told) == all.end())
    all.push_back(told);
}

std::string_view or_nothing(const char* text) { return text != nullptr ? text : ""; }

template <class Payload>
Payload after(std::size_t head, const void* event) {
  Payload payload{};
  std::memcpy(&payload, static_cast<const std::byte*>(event) + head, sizeof payload);
  return payload;
}

int init3(void** context, int* mask) {
  *context = new Context;
  *mask = collective_event | message_event;
  return 0;
}
int init4(void** context, int* mask, const char*, std::uint64_t, int, int, int, Logger) {
  return init3(context, mask);
}
int init5(void** context, std::uint64_t, int* mask, const char*, int, int, int, Logger) {
  return init3(context, mask);
}

// The handle is any but null: NCCL 2.26 tells nothing of a group that has none.
template <class Head>
int start(void* context, void** handle, void* event) {
  *handle = context;
  if (context == nullptr) return 0;
  auto& on = *static_cast<Context*>(context);
  const Head head = after<Head>(0, event);
  if (head.type == collective_event) {
    const auto c = after<Collective>(sizeof head, event);
    if (on.token == nullptr) meet(on, c.recv);
    remember(on, {or_nothing(c.function), or_nothing(c.algorithm), or_nothing(c.protocol),
                  c.channels, c.recv != nullptr && c.recv == on.token});
  } else if (head.type == message_event) {
    const auto m = after<Message>(sizeof head, event);
    remember(on, {"", "P2P", "", std::is_same_v<Head, Head3> ? 0 : m.channels, false});
  }
  return 0;
}

int stop(void*) { return 0; }
int record(void*, int, void*) { return 0; }

int finalize(void* context) {
  const auto* const gone = static_cast<Context*>(context);
  Listeners& all = listeners();
  const std::lock_guard lock(all.mutex);
  for (auto& [token, of] : all.of_token)
    if (of == gone) of = nullptr;
  delete gone;
  return 0;
}

constexpr char variable[] = "NCCL_PROFILER_PLUGIN";
constexpr char plugin_name[] = "ccl-tests";

}  // namespace

// NOLINTBEGIN(readability-identifier-naming): NCCL's names
extern "C" {
extern __attribute__((visibility("default"))) const Plugin<Init3> ncclProfiler_v3;
extern __attribute__((visibility("default"))) const Plugin<Init4> ncclProfiler_v4;
extern __attribute__((visibility("default"))) const Plugin<Init5> ncclProfiler_v5;
const Plugin<Init3> ncclProfiler_v3{plugin_name, &init3, &start<Head3>, &stop, &record, &finalize};
const Plugin<Init4> ncclProfiler_v4{plugin_name, &init4, &start<Head4>, &stop, &record, &finalize};
const Plugin<Init5> ncclProfiler_v5{plugin_name, &init5, &start<Head5>, &stop, &record, &finalize};
}
// NOLINTEND(readability-identifier-naming)

void listen_to_nccl() {
  Dl_info info{};
  dladdr(&ncclProfiler_v5, &info);
  const std::string self = std::filesystem::absolute(info.dli_fname).string();
  constexpr std::size_t longest = 250;  // NCCL cuts the name off
  if (self.size() > longest)
    throw Unsupported(fmt::format(
        "--show-algorithm: NCCL takes no plugin whose path is longer than {} characters: {}",
        longest, self));
  const char* const set = std::getenv(variable);
  if (set != nullptr && *set != '\0' && set != self)
    throw Unsupported(
        fmt::format("--show-algorithm: NCCL has one profiler plugin, and {} is set to "
                    "{}; accepted: without it",
                    variable, set));
  setenv(variable, self.c_str(), 1);
}

Listener::Listener(const void* token) : token_(token) {
  Listeners& all = listeners();
  const std::lock_guard lock(all.mutex);
  all.of_token[token] = nullptr;
}

Listener::~Listener() {
  Listeners& all = listeners();
  const std::lock_guard lock(all.mutex);
  all.of_token.erase(token_);
}

std::string Listener::take(bool with_token) {
  std::set<std::string> functions;
  std::set<std::pair<std::string, std::string>> texts;  // function, what was chosen for it
  Listeners& all = listeners();
  const std::lock_guard lock(all.mutex);
  Context* const context = all.of_token.at(token_);
  if (context == nullptr) return {};
  const std::lock_guard of_context(context->mutex);
  for (const Told& told : context->told) {
    if (told.token && !with_token) continue;
    functions.emplace(told.function);
    texts.emplace(told.function, told.text());
  }
  context->told.clear();
  std::set<std::string> lines;
  for (const auto& [function, text] : texts)
    lines.insert(functions.size() > 1 && !function.empty() ? function + " " + text : text);
  return fmt::format("{}", fmt::join(lines, "; "));
}

}  // namespace ccl_tests::nccl_module
