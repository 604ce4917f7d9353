#include "src/backends/gloo/device.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gloo/common/error.h>
#include <gloo/config.h>
#include <gloo/transport/tcp/device.h>
#if GLOO_HAVE_TRANSPORT_IBVERBS && __has_include(<infiniband/verbs.h>)
#include <gloo/transport/ibverbs/device.h>
#endif
#include <sched.h>

#include <algorithm>
#include <string>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"

namespace ccl_tests::gloo_module {
namespace {

// Gloo is told an address: of an interface it would take the first one of any family.
NetworkDevice make_tcp(ControlChannel& channel, const BackendOptions& options) {
  std::vector<RankAddresses> ranks = agree_on_addresses(channel, options);
  const RankAddresses& mine = ranks[static_cast<std::size_t>(channel.rank())];
  gloo::transport::tcp::attr attributes;
  attributes.hostname = mine.addresses.front().address;
  return {gloo::transport::tcp::CreateDevice(attributes), std::move(ranks)};
}

#if GLOO_HAVE_TRANSPORT_IBVERBS && __has_include(<infiniband/verbs.h>)
std::string device_name(const std::vector<std::string>& names, const std::string& interface) {
  if (names.empty())
    throw Unsupported("--transport ibverbs: this machine has no InfiniBand or RoCE device");
  if (interface.empty()) return names.front();
  std::vector<InterfaceAddress> devices;
  for (const std::string& name : names) devices.push_back({.interface = name});
  const auto meant = matching(parse_interfaces(interface), devices);
  if (!meant.empty()) return meant.front().interface;
  throw UsageError(fmt::format("--interface: there is no InfiniBand device {}; accepted: {}",
                               quote(interface), fmt::join(names, ", ")));
}

NetworkDevice make_ibverbs(const std::string& interface) {
  try {
    const std::string name = device_name(gloo::transport::ibverbs::getDeviceNames(), interface);
    return {gloo::transport::ibverbs::CreateDevice({.name = name, .port = 1, .index = 0}), {}};
  } catch (const gloo::Exception& e) {
    throw Unsupported(fmt::format("--transport ibverbs: {}", e.what()));
  }
}
#else
NetworkDevice make_ibverbs(const std::string& /*interface*/) {
  throw Unsupported(
      "--transport ibverbs: the Gloo module was built without it (package libibverbs-dev)");
}
#endif

NetworkDevice make_kind(ControlChannel& channel, const BackendOptions& options) {
  if (options.transport.empty() || options.transport == "tcp") return make_tcp(channel, options);
  if (options.transport == "ibverbs") return make_ibverbs(options.interface);
  throw UsageError(fmt::format("--transport: unknown transport '{}'; accepted: tcp, ibverbs",
                               options.transport));
}

// Schedules the calling thread as SCHED_BATCH while it lives; threads that it starts meanwhile stay so
// (sched(7): a new thread inherits its creator's policy). Any user may go there and back from
// SCHED_OTHER.
class BatchPolicy {
 public:
  explicit BatchPolicy(bool wanted)
      : set_(wanted && sched_getscheduler(0) == SCHED_OTHER && set(SCHED_BATCH)) {}
  ~BatchPolicy() {
    if (set_) set(SCHED_OTHER);
  }
  BatchPolicy(const BatchPolicy&) = delete;
  BatchPolicy& operator=(const BatchPolicy&) = delete;

  bool is_set() const { return set_; }

 private:
  static bool set(int policy) {
    const sched_param none{};
    return sched_setscheduler(0, policy, &none) == 0;
  }

  bool set_;
};

}  // namespace

bool wants_batch(const BackendOptions& options) {
  const std::string value =
      options.get(event_threads_key).value_or(options.cpus_short ? "batch" : "other");
  if (value != "batch" && value != "other")
    throw UsageError(fmt::format("--backend-option {}: {} is not accepted; accepted: other, batch",
                                 event_threads_key, quote(value)));
  return value == "batch";
}

NetworkDevice make_device(ControlChannel& channel, const BackendOptions& options) {
  const BatchPolicy policy(wants_batch(options));
  NetworkDevice network = make_kind(channel, options);
  network.batch = policy.is_set();
  return network;
}

}  // namespace ccl_tests::gloo_module
