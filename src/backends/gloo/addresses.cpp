#include "src/backends/gloo/addresses.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>

#include "src/core/error.hpp"
#include "src/core/host.hpp"
#include "src/core/serialize.hpp"

namespace ccl_tests {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(InterfaceAddress, interface, address, up, loopback)

namespace gloo_module {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankAddresses, host, network, chosen_by, addresses)

namespace {

using Addresses = std::vector<InterfaceAddress>;

constexpr const char* remedy = "choose another interface with --interface";

// "rank 1 on node2 (eth0 10.0.0.7, chosen by --interface)"
std::string name_of(std::size_t rank, const std::vector<RankAddresses>& ranks) {
  return fmt::format("rank {} on {} ({})", rank, ranks[rank].host, text_of(ranks[rank]));
}

// Returns whether all use IPv6.
bool agreed_family(const std::vector<RankAddresses>& ranks) {
  const auto without = [&](bool v6) {
    return std::find_if(ranks.begin(), ranks.end(), [&](const auto& rank) {
      return std::none_of(rank.addresses.begin(), rank.addresses.end(),
                          [&](const auto& one) { return one.is_v6() == v6; });
    });
  };
  const auto no_v4 = without(false), no_v6 = without(true);
  if (no_v4 == ranks.end() && no_v6 == ranks.end()) {
    const auto prefer_v6 = std::count_if(ranks.begin(), ranks.end(), [](const auto& rank) {
      return rank.addresses.front().is_v6();
    });
    return 2 * prefer_v6 > static_cast<std::ptrdiff_t>(ranks.size());
  }
  if (no_v4 == ranks.end() || no_v6 == ranks.end()) return no_v4 != ranks.end();
  throw Unsupported(fmt::format(
      "gloo: no address family is common: {} has no IPv6 address, {} no IPv4 address; {}",
      name_of(static_cast<std::size_t>(no_v6 - ranks.begin()), ranks),
      name_of(static_cast<std::size_t>(no_v4 - ranks.begin()), ranks), remedy));
}

void require_reachable(const std::vector<RankAddresses>& ranks) {
  std::map<std::string, std::size_t> first_with;  // by address
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    const InterfaceAddress& mine = ranks[rank].addresses.front();
    const std::size_t other = first_with.emplace(mine.address, rank).first->second;
    if (ranks[other].network != ranks[rank].network)
      throw UsageError(fmt::format("gloo: {} and {} have the same address; {}",
                                   name_of(other, ranks), name_of(rank, ranks), remedy));
  }
  const auto loopback = std::find_if(
      ranks.begin(), ranks.end(), [](const auto& rank) { return rank.addresses.front().loopback; });
  const auto elsewhere = std::find_if(ranks.begin(), ranks.end(), [&](const auto& rank) {
    return loopback != ranks.end() && rank.network != loopback->network;
  });
  if (elsewhere == ranks.end()) return;
  throw UsageError(fmt::format("gloo: {} is not reached from {}; {}",
                               name_of(static_cast<std::size_t>(loopback - ranks.begin()), ranks),
                               name_of(static_cast<std::size_t>(elsewhere - ranks.begin()), ranks),
                               remedy));
}

// Returns every rank's `mine`. Collective.
std::vector<RankAddresses> exchange(ControlChannel& channel, const RankAddresses& mine,
                                    double limit_s) {
  std::vector<RankAddresses> ranks;
  for (const std::string& bytes : channel.all_gather(to_bytes(mine), limit_s))
    ranks.push_back(from_bytes<RankAddresses>(bytes));
  return ranks;
}

// The address at which most connections of the control plane end, loopback ones left out: a host's
// own name may mean its loopback interface.
std::optional<InterfaceAddress> control_address(const ControlChannel& channel,
                                                const Addresses& all) {
  std::map<std::string, int> connections;
  for (const std::string& address : channel.local_addresses()) ++connections[address];
  std::optional<InterfaceAddress> most;
  for (const InterfaceAddress& one : all)
    if (!one.loopback && connections[one.address] > (most ? connections[most->address] : 0))
      most = one;
  return most;
}

// Collective. Returns where all ranks are, each with the address of its control connection.
std::vector<RankAddresses> all_places(ControlChannel& channel, const Addresses& all,
                                      double limit_s) {
  std::error_code ignored;
  const auto name_space = std::filesystem::read_symlink("/proc/self/ns/net", ignored);
  const std::string network = fmt::format("{} {}", machine_id(), name_space.string());
  RankAddresses mine{this_host(), network, "the control connection", {}};
  if (const auto control = control_address(channel, all)) mine.addresses.push_back(*control);
  return exchange(channel, mine, limit_s);
}

// Copies of a virtual machine may say that they are one machine; their names differ.
bool on_one_host(const RankAddresses& a, const RankAddresses& b) {
  return a.host == b.host && a.network == b.network;
}

// Moves the interface of this rank's control connection, or of another rank's here, to the front.
// Returns whether there is one.
bool put_control_first(Addresses& all, const std::vector<RankAddresses>& places,
                       const RankAddresses& here) {
  const auto known = std::find_if(places.begin(), places.end(), [&](const auto& place) {
    return on_one_host(place, here) && !place.addresses.empty();
  });
  const Addresses& found =
      here.addresses.empty() && known != places.end() ? known->addresses : here.addresses;
  if (found.empty()) return false;
  std::stable_partition(all.begin(), all.end(),
                        [&](const auto& one) { return one.interface == found.front().interface; });
  std::stable_partition(all.begin(), all.end(),
                        [&](const auto& one) { return one.address == found.front().address; });
  return true;
}

// Leaves the first address of each family.
RankAddresses usable(RankAddresses rank) {
  const std::string first = text_of(rank);
  std::erase_if(rank.addresses, [](const auto& one) { return one.is_link_local(); });
  if (rank.addresses.empty())
    throw Unsupported(fmt::format("gloo: {} has no address that is valid beyond its link ({}); {}",
                                  rank.host, first, remedy));
  const bool v6 = rank.addresses.front().is_v6();
  const auto other = std::find_if(rank.addresses.begin(), rank.addresses.end(),
                                  [&](const auto& one) { return one.is_v6() != v6; });
  rank.addresses = other == rank.addresses.end() ? Addresses{rank.addresses.front()}
                                                 : Addresses{rank.addresses.front(), *other};
  return rank;
}

RankAddresses choice_of(const std::vector<RankAddresses>& places, RankAddresses here, Addresses all,
                        const BackendOptions& options) {
  const bool control = put_control_first(all, places, here);
  const auto choose = [&](const std::string& by, const std::string& text) {
    return RankAddresses{here.host, here.network, by, chosen_addresses(by, text, all)};
  };
  const auto left = [&](std::string_view why_none) {
    if (all.empty()) throw Unsupported(fmt::format("gloo: {}; {}", why_none, remedy));
    return all;
  };
  if (!options.interface.empty()) return choose("--interface", options.interface);
  for (const char* variable : {"GLOO_SOCKET_IFNAME", "NCCL_SOCKET_IFNAME"})
    if (const char* const text = std::getenv(variable); text != nullptr && *text != '\0')
      return choose(variable, text);
  const bool one_host = std::all_of(places.begin(), places.end(),
                                    [&](const auto& place) { return on_one_host(place, here); });
  if (one_host) {
    std::erase_if(all, [](const auto& one) { return !one.up || !one.loopback; });
    return {here.host, here.network, "all ranks being on one host",
            left("no loopback interface is up (ip link set lo up)")};
  }
  if (!control) {  // what NCCL takes, too
    const Addresses no_bridges = matching(parse_interfaces("^lo,docker,virbr"), all);
    all = no_bridges.empty() ? matching(parse_interfaces("^lo"), all) : no_bridges;
    return {here.host, here.network, "being the first",
            left("no interface is up that other hosts could reach")};
  }
  const std::string interface = all.front().interface;
  std::erase_if(all, [&](const auto& one) { return one.interface != interface; });
  return {here.host, here.network, here.chosen_by, all};
}

}  // namespace

std::vector<RankAddresses> agreed_on(std::vector<RankAddresses> ranks) {
  const bool v6 = agreed_family(ranks);
  for (RankAddresses& rank : ranks)
    std::erase_if(rank.addresses, [&](const auto& one) { return one.is_v6() != v6; });
  require_reachable(ranks);
  return ranks;
}

std::vector<RankAddresses> agree_on_addresses(ControlChannel& channel,
                                              const BackendOptions& options) {
  const double limit_s = options.init_timeout_s;
  const Addresses all = interface_addresses();
  const std::vector<RankAddresses> places = all_places(channel, all, limit_s);
  const RankAddresses mine =
      usable(choice_of(places, places[static_cast<std::size_t>(channel.rank())], all, options));
  return agreed_on(exchange(channel, mine, limit_s));
}

std::string text_of(const RankAddresses& rank) {
  const InterfaceAddress& one = rank.addresses.front();
  return fmt::format("{} {}, chosen by {}", one.interface, one.address, rank.chosen_by);
}

std::string addresses_text(const std::vector<RankAddresses>& ranks, int self,
                           const std::string& message) {
  constexpr std::size_t most = 3;
  const auto mine = static_cast<std::size_t>(self);
  std::vector<std::string> named, others;
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    if (rank == mine) continue;
    const std::string address = ranks[rank].addresses.front().address;
    const bool is_named = message.find('[' + address + ']') != std::string::npos;
    std::vector<std::string>& names = is_named ? named : others;
    if (names.size() < most) names.push_back(name_of(rank, ranks));
  }
  const std::vector<std::string>& shown = named.empty() ? others : named;
  if (shown.empty()) return {};
  return fmt::format("; from {} to {}; {}", name_of(mine, ranks), fmt::join(shown, ", "), remedy);
}

}  // namespace gloo_module
}  // namespace ccl_tests
