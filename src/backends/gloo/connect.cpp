#include "src/backends/gloo/connect.hpp"

#include <fmt/format.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/store.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <utility>
#include <vector>

#include "src/backends/gloo/device.hpp"
#include "src/backends/gloo/errors.hpp"
#include "src/backends/gloo/open_sockets.hpp"

namespace ccl_tests::gloo_module {
namespace {

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
  if (!network.ranks.empty()) text += "; " + text_of(network.ranks[static_cast<std::size_t>(rank)]);
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

Connection connect(ControlChannel& channel, const BackendOptions& options) {
  NetworkDevice network;
  const auto connected = [&] {
    require_ports(channel, options.init_timeout_s);
    const OpenSockets before = OpenSockets::now();
    network = make_device(channel, options);
    auto context = full_mesh(channel, network, options.init_timeout_s);
    return Connection{std::move(context), description(network, options, channel.rank()),
                      OpenSockets::now().since(before)};
  };
  return translated(connected, [&](const std::string& message) {
    return addresses_text(network.ranks, channel.rank(), message);
  });
}

}  // namespace ccl_tests::gloo_module
