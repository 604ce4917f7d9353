// ccl-nccl.so as the profiler plugin that NCCL opens.
#include <dlfcn.h>
#include <gmock/gmock.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "src/backends/nccl/profiler.hpp"
#include "src/core/error.hpp"

namespace {

// As in "NCCL Profiler Plugin Documentation": what all versions have, with init's type left open.
struct Plugin {
  const char* name;
  void* init;
  int (*start)(void* context, void** handle, void* event);
  int (*stop)(void* handle);
  int (*record)(void* handle, int state, void* arguments);
  int (*finalize)(void* context);
};

// The eight-byte words of an event. Version 3 has two more before what is of the event's type.
constexpr std::uint64_t group_event = 1, collective_event = 2, message_event = 4, api_event = 256;
using Words = std::vector<std::uint64_t>;
std::uint64_t word(const void* p) { return reinterpret_cast<std::uint64_t>(p); }

Words collective(int version, const char* function, const void* recv, std::uint64_t channels,
                 const char* algorithm, const char* protocol) {
  Words words = {collective_event, 0, 3};
  if (version == 3) words.insert(words.end(), {word("name"), 1});
  const Words rest = {7,
                      word(function),
                      0,
                      word(recv),
                      100,
                      0,
                      word("ncclFloat32"),
                      channels | 16 << 8,
                      word(algorithm),
                      word(protocol)};
  words.insert(words.end(), rest.begin(), rest.end());
  return words;
}
Words message(int version, std::uint64_t channels) {
  Words words = {message_event, 0, 3};
  if (version == 3) words.insert(words.end(), {word("name"), 1});
  const Words rest = {word("Send"), 0, word("ncclInt8"), 100, 2 | channels << 32, 0, 0, 0, 0, 0};
  words.insert(words.end(), rest.begin(), rest.end());
  return words;
}

const Plugin* plugin_in(void* library, int version) {
  return static_cast<const Plugin*>(
      dlsym(library, ("ncclProfiler_v" + std::to_string(version)).c_str()));
}

int init(const Plugin& plugin, int version, void** context, int* mask) {
  using Init3 = int (*)(void**, int*);
  using Logger = void (*)(int, unsigned long, const char*, int, const char*, ...);
  using Init4 = int (*)(void**, int*, const char*, std::uint64_t, int, int, int, Logger);
  using Init5 = int (*)(void**, std::uint64_t, int*, const char*, int, int, int, Logger);
  if (version == 3) return reinterpret_cast<Init3>(plugin.init)(context, mask);
  if (version == 4)
    return reinterpret_cast<Init4>(plugin.init)(context, mask, nullptr, 9, 1, 4, 3, nullptr);
  return reinterpret_cast<Init5>(plugin.init)(context, 9, mask, nullptr, 1, 4, 3, nullptr);
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): NCCL's names
extern "C" const Plugin ncclProfiler_v3, ncclProfiler_v4, ncclProfiler_v5;

namespace {

class NcclPlugin : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override { ASSERT_EQ(init(plugin, GetParam(), &own, &own_mask), 0); }
  void TearDown() override {
    if (own != nullptr) {
      EXPECT_EQ(plugin.finalize(own), 0);
    }
  }
  // As NCCL: what is told of has an end where it has a handle.
  void tell(Words words) { tell(own, std::move(words)); }
  void tell(void* context, Words words) {
    void* handle = nullptr;
    EXPECT_EQ(plugin.start(context, &handle, words.data()), 0);
    EXPECT_EQ(plugin.record(handle, 0, nullptr), 0);
    EXPECT_EQ(plugin.stop(handle), 0);
  }
  void tell_collective(const char* function, const void* recv, std::uint64_t channels,
                       const char* algorithm = "RING", const char* protocol = "LL") {
    tell(collective(GetParam(), function, recv, channels, algorithm, protocol));
  }

  const Plugin& plugin = GetParam() == 3   ? ncclProfiler_v3
                         : GetParam() == 4 ? ncclProfiler_v4
                                           : ncclProfiler_v5;
  void* own = nullptr;
  int own_mask = 0;
  const int token = 0, data = 0;
  ccl_tests::nccl_module::Listener listener{&token};
};

TEST_P(NcclPlugin, ModuleExportsIt) {
  void* const library = dlopen(CCL_NCCL_MODULE, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  const Plugin* const exported = plugin_in(library, GetParam());
  ASSERT_NE(exported, nullptr);
  EXPECT_STREQ(exported->name, "ccl-tests");
  EXPECT_NE(exported->init, nullptr);
  EXPECT_NE(exported->start, nullptr);
  EXPECT_NE(exported->stop, nullptr);
  EXPECT_NE(exported->record, nullptr);
  EXPECT_NE(exported->finalize, nullptr);
}

TEST_P(NcclPlugin, AsksForCollectivesAndMessagesOnly) { EXPECT_EQ(own_mask, 2 | 4); }

TEST_P(NcclPlugin, GivesGroupsAHandle) {  // without one NCCL 2.26 tells nothing of what is in them
  Words words(20);
  words[0] = group_event;
  void* handle = nullptr;
  EXPECT_EQ(plugin.start(own, &handle, words.data()), 0);
  EXPECT_NE(handle, nullptr);
}

TEST_P(NcclPlugin, TellsDistinctChoicesOnce) {
  tell_collective("AllReduce", &token, 1);
  EXPECT_EQ(listener.take(false), "");
  for (int k = 0; k < 3; ++k) tell_collective("AllReduce", &data, 1);
  EXPECT_EQ(listener.take(false), "RING/LL, 1 channel");
  EXPECT_EQ(listener.take(false), "");
  tell_collective("AllReduce", &data, 24, "NVLS", "SIMPLE");
  tell_collective("AllReduce", &data, 16, "TREE", "LL128");
  EXPECT_EQ(listener.take(false), "NVLS/SIMPLE, 24 channels; TREE/LL128, 16 channels");
  tell_collective("AllReduce", &data, 2);
  tell_collective("Broadcast", nullptr, 2);
  EXPECT_EQ(listener.take(false), "AllReduce RING/LL, 2 channels; Broadcast RING/LL, 2 channels");
}

TEST_P(NcclPlugin, KeepsTheTokensOwnForThoseWhoAsk) {
  tell_collective("AllReduce", &token, 1);
  tell_collective("AllReduce", &token, 1);
  EXPECT_EQ(listener.take(true), "RING/LL, 1 channel");
  tell_collective("AllReduce", &token, 1);
  tell_collective("AllReduce", &data, 2);
  EXPECT_EQ(listener.take(false), "RING/LL, 2 channels");
}

TEST_P(NcclPlugin, TellsMessages) {
  tell_collective("AllReduce", &token, 1);
  tell(message(GetParam(), 4));
  tell(message(GetParam(), 4));
  EXPECT_EQ(listener.take(false), GetParam() == 3 ? "P2P" : "P2P, 4 channels");
}

TEST_P(NcclPlugin, IgnoresOtherEvents) {
  tell_collective("AllReduce", &token, 1);
  Words words(20);
  words[0] = GetParam() == 5 ? api_event + 2 : 8;
  tell(words);
  EXPECT_EQ(listener.take(true), "RING/LL, 1 channel");
}

TEST_P(NcclPlugin, TellsCommunicatorsApart) {
  void* other = nullptr;
  int mask = 0;
  ASSERT_EQ(init(plugin, GetParam(), &other, &mask), 0);
  const int other_token = 0;
  ccl_tests::nccl_module::Listener other_listener(&other_token);
  tell_collective("AllReduce", &token, 1);
  EXPECT_EQ(other_listener.take(true), "");
  tell(other, collective(GetParam(), "AllReduce", &other_token, 1, "RING", "LL"));
  tell(other, collective(GetParam(), "AllReduce", &data, 8, "TREE", "LL"));
  EXPECT_EQ(other_listener.take(false), "TREE/LL, 8 channels");
  EXPECT_EQ(listener.take(false), "");
  EXPECT_EQ(plugin.finalize(other), 0);
  EXPECT_EQ(other_listener.take(true), "");
}

TEST_P(NcclPlugin, IsToldFromManyThreads) {
  tell_collective("AllReduce", &token, 1);
  std::vector<std::thread> threads;
  for (std::uint64_t t = 1; t <= 4; ++t) {
    threads.emplace_back([this, t] {
      for (int k = 0; k < 1000; ++k) tell_collective("AllReduce", &data, t);
    });
  }
  for (int k = 0; k < 100; ++k) listener.take(false);
  for (auto& thread : threads) thread.join();
  for (std::uint64_t channels = 1; channels <= 40; ++channels)
    tell_collective("AllReduce", &data, channels);  // more than are kept
  EXPECT_THAT(listener.take(false), ::testing::HasSubstr("RING/LL, 4 channels"));
}

INSTANTIATE_TEST_SUITE_P(Versions, NcclPlugin, ::testing::Values(3, 4, 5));

TEST(NcclPluginVariable, NamesThisFileUnlessTheUserHasOne) {
  unsetenv("NCCL_PROFILER_PLUGIN");
  ccl_tests::nccl_module::listen_to_nccl();
  const char* const set = std::getenv("NCCL_PROFILER_PLUGIN");
  ASSERT_NE(set, nullptr);
  EXPECT_EQ(set[0], '/');
  EXPECT_NO_THROW(
      ccl_tests::nccl_module::listen_to_nccl());  // inherited by a process that was started
  setenv("NCCL_PROFILER_PLUGIN", "example", 1);
  EXPECT_THROW(ccl_tests::nccl_module::listen_to_nccl(), ccl_tests::Unsupported);
  unsetenv("NCCL_PROFILER_PLUGIN");
}

}  // namespace
