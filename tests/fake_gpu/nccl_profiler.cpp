#include "tests/fake_gpu/nccl_profiler.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace fake_gpu {
namespace {

// The layouts of "NCCL Profiler Plugin Documentation", ext-profiler/README.md of NCCL's repository.
constexpr int group_event = 1, collective_event = 2, message_event = 4;
constexpr int told_channels = 2;
constexpr std::size_t first_simple = 64 << 10;  // bytes; LL below

struct Collective4 {
  std::uint64_t number;
  const char* function;
  const void* send;
  void* recv;
  std::size_t count;
  int root;
  const char* type;
  std::uint8_t channels, warps;
  const char *algorithm, *protocol;
  void* parent_group;  // 5
};
struct Message4 {
  const char* function;
  void* buffer;
  const char* type;
  std::size_t count;
  int peer;
  std::uint8_t channels;
  void* parent_group;  // 5
};
struct Collective3 {
  const char* name;
  std::uint64_t hash;
  Collective4 rest;
};
struct Message3 {
  const char* name;
  std::uint64_t hash;
  const char* function;
  void* buffer;
  const char* type;
  std::size_t count;
  int peer;
};
template <class Type, class Collective, class Message>
struct Descriptor {
  Type type;
  void* parent;
  int rank;
  union {
    Collective collective;
    Message message;
  };
};
using Descriptor3 = Descriptor<std::uint8_t, Collective3, Message3>;
using Descriptor4 = Descriptor<std::uint8_t, Collective4, Message4>;
using Descriptor5 = Descriptor<std::uint64_t, Collective4, Message4>;

using Logger = void (*)(int, unsigned long, const char*, int, const char*, ...);
using Init3 = ncclResult_t (*)(void**, int*);
using Init4 = ncclResult_t (*)(void**, int*, const char*, std::uint64_t, int, int, int, Logger);
using Init5 = ncclResult_t (*)(void**, std::uint64_t, int*, const char*, int, int, int, Logger);

template <class Init, class D>
struct Plugin {
  const char* name;
  Init init;
  ncclResult_t (*start)(void*, void**, D*);
  ncclResult_t (*stop)(void*);
  ncclResult_t (*record)(void*, int, void*);
  ncclResult_t (*finalize)(void*);
};

const char* function(Kind kind) {
  switch (kind) {
    case Kind::all_reduce: return "AllReduce";
    case Kind::reduce: return "Reduce";
    case Kind::broadcast: return "Broadcast";
    case Kind::all_gather: return "AllGather";
    case Kind::reduce_scatter: return "ReduceScatter";
    case Kind::recv: return "Recv";
    case Kind::alltoall:
    case Kind::gather:
    case Kind::scatter:
    case Kind::send: return "Send";
  }
  return "";
}

bool of_messages(Kind kind) {
  return kind == Kind::alltoall || kind == Kind::gather || kind == Kind::scatter ||
         kind == Kind::send || kind == Kind::recv;
}

Collective4 collective(const Request& r) {
  const bool simple = r.count * bytes_of(r.type) >= first_simple;
  return {0,
          function(r.kind),
          r.send,
          r.recv,
          r.count,
          r.root,
          "ncclInt",
          told_channels,
          16,
          "RING",
          simple ? "SIMPLE" : "LL",
          nullptr};
}

template <class D>
void fill(D& d, const Request& r) {
  void* const buffer = r.kind == Kind::recv ? r.recv : const_cast<void*>(r.send);
  if constexpr (std::is_same_v<D, Descriptor3>) {
    if (d.type == collective_event)
      d.collective = {"", 1, collective(r)};
    else
      d.message = {"", 1, function(r.kind), buffer, "ncclInt", r.count, r.root};
  } else {
    if (d.type == collective_event)
      d.collective = collective(r);
    else
      d.message = {function(r.kind), buffer, "ncclInt", r.count, r.root, told_channels, nullptr};
  }
}

template <class Init, class D>
class Opened : public Profiler {
 public:
  Opened(const Plugin<Init, D>& plugin, std::uint64_t hash, int rank, int ranks)
      : plugin_(plugin), rank_(rank), ranks_(ranks) {
    if constexpr (std::is_same_v<Init, Init3>)
      plugin_.init(&context_, &mask_);
    else if constexpr (std::is_same_v<Init, Init4>)
      plugin_.init(&context_, &mask_, nullptr, hash, 1, ranks, rank, nullptr);
    else
      plugin_.init(&context_, hash, &mask_, nullptr, 1, ranks, rank, nullptr);
  }
  ~Opened() override {
    if (context_ != nullptr) plugin_.finalize(context_);
  }
  Opened(const Opened&) = delete;
  Opened& operator=(const Opened&) = delete;

  void tell(const std::vector<Request>& requests) override {
    D group{};
    group.type = group_event;
    void* parent = nullptr;
    plugin_.start(context_, &parent, &group);
    if (parent == nullptr) return;  // as NCCL 2.26
    for (const Request& request : requests) {
      D event{};
      event.type = static_cast<decltype(event.type)>(of_messages(request.kind) ? message_event
                                                                               : collective_event);
      const bool one = ranks_ == 1 && event.type == collective_event;  // a copy, no task
      if ((mask_ & static_cast<int>(event.type)) == 0 || request.count == 0 || one) continue;
      event.parent = parent;
      event.rank = rank_;
      fill(event, request);
      void* handle = nullptr;
      plugin_.start(context_, &handle, &event);
      if (handle != nullptr) plugin_.stop(handle);
    }
    plugin_.stop(parent);
  }

 private:
  const Plugin<Init, D>& plugin_;
  int rank_, ranks_;
  void* context_ = nullptr;
  int mask_ = 0;
};

}  // namespace

std::unique_ptr<Profiler> Profiler::open(std::uint64_t hash, int rank, int ranks) {
  const char* const file = std::getenv("NCCL_PROFILER_PLUGIN");
  if (file == nullptr || *file == '\0') return nullptr;
  void* const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  int version = 0;
  ncclGetVersion(&version);
  const auto find = [&](int first_nccl, const char* name) {
    return version >= first_nccl ? dlsym(library, name) : nullptr;
  };
  const auto opened = [&]<class Init, class D>(void* plugin) -> std::unique_ptr<Profiler> {
    const auto* const of = static_cast<const Plugin<Init, D>*>(plugin);
    return std::make_unique<Opened<Init, D>>(*of, hash, rank, ranks);
  };
  if (void* const v5 = find(NCCL_VERSION(2, 28, 0), "ncclProfiler_v5"))
    return opened.template operator()<Init5, Descriptor5>(v5);
  if (void* const v4 = find(NCCL_VERSION(2, 27, 0), "ncclProfiler_v4"))
    return opened.template operator()<Init4, Descriptor4>(v4);
  if (void* const v3 = find(NCCL_VERSION(2, 26, 0), "ncclProfiler_v3"))
    return opened.template operator()<Init3, Descriptor3>(v3);
  return nullptr;
}

}  // namespace fake_gpu
