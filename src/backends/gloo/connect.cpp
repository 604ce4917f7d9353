#include "src/backends/gloo/connect.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gloo/config.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>
#include <gloo/transport/tcp/device.h>
#include <net/if.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "src/backends/gloo/errors.hpp"
#if GLOO_HAVE_TRANSPORT_IBVERBS && __has_include(<infiniband/verbs.h>)
#include <gloo/transport/ibverbs/device.h>
#endif

namespace ccl::gloo_module {
namespace {

// Gloo's store over our exchange. Every rank calls set() equally often while a full mesh connects
// (its host name, then its addresses), so each set() can be a collective exchange after which get()
// finds everybody's values.
class ExchangeStore : public gloo::rendezvous::Store {
 public:
  ExchangeStore(Bootstrap& bootstrap, double limit_s) : bootstrap_(bootstrap), limit_s_(limit_s) {}

  void set(const std::string& key, const std::vector<char>& data) override {
    const nlohmann::json mine = {key, std::vector<int>(data.begin(), data.end())};
    for (const std::string& text : bootstrap_.exchange(mine.dump(), limit_s_)) {
      const auto pair = nlohmann::json::parse(text);
      const auto bytes = pair.at(1).get<std::vector<int>>();
      values_[pair.at(0)] = std::vector<char>(bytes.begin(), bytes.end());
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
  Bootstrap& bootstrap_;
  double limit_s_;
  std::map<std::string, std::vector<char>> values_;
};

std::vector<std::string> interfaces() {
  std::vector<std::string> names;
  struct if_nameindex* const list = if_nameindex();
  for (const struct if_nameindex* i = list; i != nullptr && i->if_index != 0; ++i)
    names.emplace_back(i->if_name);
  if (list != nullptr) if_freenameindex(list);
  return names;
}

// Do all ranks run under one kernel? Then the loopback address reaches them all.
bool one_machine(Bootstrap& bootstrap, double limit_s) {
  std::string boot_id;
  std::ifstream("/proc/sys/kernel/random/boot_id") >> boot_id;
  // Hosts that are network namespaces of one kernel have their own loopback: compare the namespace
  // too.
  std::error_code none;
  const auto net = std::filesystem::read_symlink("/proc/self/ns/net", none).string();
  const auto all = bootstrap.exchange(boot_id + net, limit_s);
  return std::set<std::string>(all.begin(), all.end()).size() == 1;
}

std::shared_ptr<gloo::transport::Device> tcp_device(Bootstrap& bootstrap,
                                                    const BackendOptions& options) {
  gloo::transport::tcp::attr attributes;
  const bool local = one_machine(bootstrap, options.init_timeout_s);
  if (!options.interface.empty()) {
    const auto names = interfaces();
    if (std::find(names.begin(), names.end(), options.interface) == names.end()) {
      throw UsageError(fmt::format("--interface: there is no interface '{}'; accepted: {}",
                                   options.interface, fmt::join(names, ", ")));
    }
    attributes.iface = options.interface;
  } else if (local) {
    attributes.hostname = "127.0.0.1";
  }
  return gloo::transport::tcp::CreateDevice(attributes);
}

std::shared_ptr<gloo::transport::Device> ibverbs_device(const BackendOptions& options) {
#if GLOO_HAVE_TRANSPORT_IBVERBS && __has_include(<infiniband/verbs.h>)
  const auto names = gloo::transport::ibverbs::getDeviceNames();
  if (names.empty()) throw Unsupported("--transport ibverbs: this host has no InfiniBand device");
  if (!options.interface.empty() &&
      std::find(names.begin(), names.end(), options.interface) == names.end()) {
    throw UsageError(fmt::format("--interface: there is no device '{}'; accepted: {}",
                                 options.interface, fmt::join(names, ", ")));
  }
  const gloo::transport::ibverbs::attr attributes{
      options.interface.empty() ? names[0] : options.interface, 1, 0};
  return gloo::transport::ibverbs::CreateDevice(attributes);
#else
  static_cast<void>(options);
  throw Unsupported(
      "--transport ibverbs: this build of the Gloo module has no ibverbs (package libibverbs-dev)");
#endif
}

}  // namespace

Connection connect(Bootstrap& bootstrap, const BackendOptions& options) {
  return translated([&] {
    std::shared_ptr<gloo::transport::Device> device =
        options.transport == "ibverbs" ? ibverbs_device(options) : tcp_device(bootstrap, options);
    auto context = std::make_shared<gloo::rendezvous::Context>(bootstrap.rank(), bootstrap.ranks());
    context->setTimeout(
        std::chrono::milliseconds(static_cast<long>(options.init_timeout_s * 1000)));
#ifdef GLOO_SHARED_STORE
    const auto store = std::make_shared<ExchangeStore>(bootstrap, options.init_timeout_s);
    context->connectFullMesh(store, device);
#else
    ExchangeStore store(bootstrap, options.init_timeout_s);
    context->connectFullMesh(store, device);
#endif
    return Connection{context, fmt::format("gloo transport: {}", device->str())};
  });
}

}  // namespace ccl::gloo_module
