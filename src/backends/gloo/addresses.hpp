// Chooses the address of its host that a rank's Gloo uses over TCP.
#pragma once

#include <string>
#include <vector>

#include "src/core/backend.hpp"
#include "src/core/interfaces.hpp"

namespace ccl_tests::gloo_module {

// A rank, and the addresses that it may use, the preferred one first.
struct RankAddresses {
  std::string host;       // its name
  std::string network;    // ranks of one network have the same interfaces
  std::string chosen_by;  // "--interface", a variable, "the control connection", ...
  std::vector<InterfaceAddress> addresses;

  // Returns whether a user's flag or variable says so.
  bool is_demanded() const { return chosen_by == "--interface" || chosen_by.ends_with("_IFNAME"); }
};

// Returns `ranks` with one address each, all of the family that all ranks have and most prefer
// (IPv4 if as many prefer either). Throws Unsupported if no family is common, UsageError if another
// network cannot reach an address: a loopback one, or one that a rank there has, too. Pure.
std::vector<RankAddresses> agreed_on(std::vector<RankAddresses> ranks);

// Returns the same of all ranks here. A rank may use what --interface says, or else
// GLOO_SOCKET_IFNAME or NCCL_SOCKET_IFNAME, or else loopback if all ranks are on one host, or else
// the interface of its control connection. Collective. Throws UsageError and Unsupported as
// agreed_on, and if a rank has no such address.
std::vector<RankAddresses> agree_on_addresses(ControlChannel& channel,
                                              const BackendOptions& options);

// Returns "eth0 10.0.0.7, chosen by --interface".
std::string text_of(const RankAddresses& rank);

// Returns what to add to `message` if rank `self` cannot connect: its address, those of the ranks
// whose addresses `message` names (or else of the first others), and what to do. Pure.
std::string addresses_text(const std::vector<RankAddresses>& ranks, int self,
                           const std::string& message);

}  // namespace ccl_tests::gloo_module
