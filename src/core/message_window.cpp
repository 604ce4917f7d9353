#include "src/core/message_window.hpp"

namespace ccl_tests {
namespace {

// Posts one window. A rank without a peer posts an empty group, because groups are collective on
// loopback.
void take_turn(Communicator& c, const Call& call, bool sends, bool receives) {
  const std::size_t bytes = call.count * size_of(call.type);
  Call message = call;
  c.begin_group();
  for (std::size_t m = 0; call.peer >= 0 && m < call.messages; ++m) {
    message.send = static_cast<const std::byte*>(call.send) + m * bytes;
    message.recv = static_cast<std::byte*>(call.recv) + m * bytes;
    if (receives) c.recv(message);
    if (sends) c.send(message);
  }
  c.end_group();
}

}  // namespace

void exchange_windows(Communicator& c, const Call& call) {
  if (call.legs == 1) {
    take_turn(c, call, true, true);
    return;
  }
  const bool first = call.self.rank == 0;
  take_turn(c, call, first, !first);
  c.fence();  // the answer begins when everything has come
  take_turn(c, call, !first, first);
}

}  // namespace ccl_tests
