// Bytes given to the two ends of a connection of the control plane.
#pragma once

#include <string_view>

namespace ccl_tests::fuzz {

// A connection's framing: the first byte says how long the pieces are that the others come in, and whether the sender is
// trusted. Aborts unless the frames that come out are those that the bytes hold.
void connection(std::string_view bytes);

// The server of a job of two processes, which have both said who they are: pieces of bytes, each behind a byte that says
// which process sends it and how long it is.
void members(std::string_view bytes);

}  // namespace ccl_tests::fuzz
