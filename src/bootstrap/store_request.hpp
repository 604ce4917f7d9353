// One request to a TCPStore server, taken from the bytes of a connection as they come.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/bootstrap/store_protocol.hpp"

namespace ccl_tests {

struct StoreRequest {
  StoreOp op = StoreOp::validate;
  std::uint32_t number = 0;  // VALIDATE's magic, PING's nonce
  std::int64_t amount = 0;   // ADD
  std::vector<std::string> keys;
  std::string value, desired;       // SET, APPEND; COMPARE_SET's expected and desired
  std::vector<std::string> values;  // MULTI_SET, one for each key
};

// Takes one request off the front of `bytes`; nothing while it is incomplete. Throws Error on what
// is no request or is beyond the limits.
std::optional<StoreRequest> take_request(std::string_view& bytes);

}  // namespace ccl_tests
