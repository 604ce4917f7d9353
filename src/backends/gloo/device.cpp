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

// Sets the policy of the calling thread; threads that it starts have it, too (sched(7)). Any user may go from
// SCHED_OTHER to SCHED_BATCH and back.
bool set_policy(int policy) {
  const sched_param none{};
  return sched_setscheduler(0, policy, &none) == 0;
}

}  // namespace

BatchThreads batch_threads(const BackendOptions& options) {
  const std::string value =
      options.get(event_threads_key).value_or(options.cpus_short ? "all" : "other");
  if (value == "other") return BatchThreads::none;
  if (value == "batch") return BatchThreads::event;
  if (value == "all") return BatchThreads::all;
  throw UsageError(
      fmt::format("--backend-option {}: {} is not accepted; accepted: other, batch, all",
                  event_threads_key, quote(value)));
}

NetworkDevice make_device(ControlChannel& channel, const BackendOptions& options) {
  const BatchThreads wanted = batch_threads(options);
  const int before = sched_getscheduler(0);
  const bool changed =
      wanted != BatchThreads::none && before == SCHED_OTHER && set_policy(SCHED_BATCH);
  const auto restore = [&] {
    if (changed) set_policy(SCHED_OTHER);
  };
  try {
    NetworkDevice network = make_kind(channel, options);
    network.batch = changed || (wanted != BatchThreads::none && before == SCHED_BATCH);
    if (wanted != BatchThreads::all) restore();
    return network;
  } catch (...) {
    restore();
    throw;
  }
}

}  // namespace ccl_tests::gloo_module
