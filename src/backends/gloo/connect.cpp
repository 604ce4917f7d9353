#include "src/backends/gloo/connect.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gloo/common/error.h>
#include <gloo/config.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>
#if GLOO_HAVE_TRANSPORT_IBVERBS && __has_include(<infiniband/verbs.h>)
#include <gloo/transport/ibverbs/device.h>
#endif
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>

#include "src/backends/gloo/addresses.hpp"
#include "src/backends/gloo/errors.hpp"
#include "src/core/quote.hpp"

namespace ccl_tests::gloo_module {
namespace {

struct NetworkDevice {
  std::shared_ptr<gloo::transport::Device> device;
  std::vector<RankAddresses> ranks;  // over TCP: all ranks, each with the address that it uses
  bool batch = false;                // threads are SCHED_BATCH, as was chosen

  // Returns null if the transport is not TCP.
  const RankAddresses* of(int rank) const {
    return ranks.empty() ? nullptr : &ranks[static_cast<std::size_t>(rank)];
  }
};

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

// Sets the policy of the calling thread; threads that it starts have it, too (sched(7)). Any user
// may go from SCHED_OTHER to SCHED_BATCH and back.
bool set_policy(int policy) {
  const sched_param none{};
  return sched_setscheduler(0, policy, &none) == 0;
}

// Collective. With BatchThreads::all the calling thread stays SCHED_BATCH.
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

// Gloo's store over our exchange. Every rank calls set() equally often while a full mesh connects
// (its host name, then its addresses), so each set() can be a collective exchange after which get()
// finds everybody's values.
class ExchangeStore : public gloo::rendezvous::Store {
 public:
  ExchangeStore(ControlChannel& channel, double limit_s) : channel_(channel), limit_s_(limit_s) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    // Addresses are about 200 B per rank and rank, so what travels is kept small: key, NUL, value.
    std::string mine = key + '\0';
    mine.append(data.begin(), data.end());
    for (const std::string& text : channel_.all_gather(mine, limit_s_)) {
      const std::size_t end = text.find('\0');
      if (end == std::string::npos) throw Error("gloo: a rank sent a malformed address");
      values_[text.substr(0, end)].assign(text.begin() + static_cast<std::ptrdiff_t>(end) + 1,
                                          text.end());
    }
  }
  std::vector<char> get(const std::string& key) override {
    const auto found = values_.find(key);
    if (found == values_.end())
      throw Error("gloo asks the store for '" + key + "', which no rank has set");
    return found->second;
  }
  void wait(const std::vector<std::string>& keys) override {
    for (const std::string& key : keys) get(key);
  }
  void wait(const std::vector<std::string>& keys,
            const std::chrono::milliseconds& /*timeout*/) override {
    wait(keys);
  }

 private:
  ControlChannel& channel_;
  double limit_s_;
  std::map<std::string, std::vector<char>> values_;
};

std::shared_ptr<gloo::Context> full_mesh(ControlChannel& channel, NetworkDevice& network,
                                         double limit_s) {
  auto context = std::make_shared<gloo::rendezvous::Context>(channel.rank(), channel.ranks());
  // Gloo waits five times as long for a connection, and for ever if this is 0; calls have limits of
  // their own.
  const std::chrono::milliseconds fifth(static_cast<long>(limit_s * 1000 / 5));
  context->setTimeout(std::max(fifth, std::chrono::milliseconds(1)));
#ifdef GLOO_SHARED_STORE
  const auto store = std::make_shared<ExchangeStore>(channel, limit_s);
  context->connectFullMesh(store, network.device);
#else
  ExchangeStore store(channel, limit_s);
  context->connectFullMesh(store, network.device);
#endif
  return context;
}

std::vector<std::string> description(const NetworkDevice& network, const BackendOptions& options,
                                     int rank) {
  std::string text = "gloo transport: " + network.device->str();
  if (const RankAddresses* const mine = network.of(rank)) text += "; " + text_of(*mine);
  std::vector<std::string> lines = {std::move(text)};
  const bool all = batch_threads(options) == BatchThreads::all;
  if (network.batch)
    lines.push_back(fmt::format(
        "{}: SCHED_BATCH{}, or calls would wait for the kernel's tick (--backend-option {}=other: as "
        "Gloo starts them)",
        all ? "ranks' and event threads" : "event threads",
        options.get(event_threads_key) ? "" : ", as CPUs are short", event_threads_key));
  return lines;
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

Connection connect(ControlChannel& channel, const BackendOptions& options) {
  NetworkDevice network;
  const auto connected = [&] {
#if !__has_include(<gloo/transport/tcp/listener.h>)  // since 2023 a device listens at one port
    require_ports(channel, options.init_timeout_s);
#endif
    const OpenSockets before = OpenSockets::now();
    network = make_device(channel, options);
    auto context = full_mesh(channel, network, options.init_timeout_s);
    Connection result{std::move(context), description(network, options, channel.rank()),
                      OpenSockets::now().since(before)};
    if (const RankAddresses* const mine = network.of(channel.rank()); mine && mine->is_demanded())
      result.chosen_interface = {
          mine->addresses.front().interface, mine->chosen_by,
          [sockets = result.sockets] { return sockets.sent_to_other_hosts(); }};
    return result;
  };
  return translated(connected, [&](const std::string& message) {
    return addresses_text(network.ranks, channel.rank(), message);
  });
}

}  // namespace ccl_tests::gloo_module
