// The sockets that came with a context, so that its waits can be ended from outside.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>

#include "src/core/control_channel.hpp"

namespace ccl_tests::gloo_module {

// Throws Unsupported if this host has fewer TCP ports than its ranks need: Gloo before 2023 listens
// at one for each rank and peer. Throws Error, Timeout. Collective.
void require_ports(ControlChannel& channel, double limit_s);

// Gloo's own closeConnections() wakes nobody who waits: it closes the sockets under Gloo's event
// loop. A socket that is shut down instead reads as closed by the peer, and the event loop makes
// every wait on it fail.
class OpenSockets {
 public:
  // The process's sockets now.
  static OpenSockets now();

  // Those of these that `earlier` does not have. Ranks on other threads may have opened some of
  // them meanwhile.
  OpenSockets since(const OpenSockets& earlier) const;

  // Returns the bytes that those that are still open have sent to other hosts, as the peers have
  // acknowledged them.
  std::uint64_t sent_to_other_hosts() const;

  // Shuts down those that are still open; thread-safe.
  void shut_down() const noexcept;

 private:
  std::map<int, ino_t> inodes_;  // by file descriptor; a reused descriptor has another inode
};

}  // namespace ccl_tests::gloo_module
