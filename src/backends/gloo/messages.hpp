// Messages between ranks over Gloo.
#pragma once

#include <gloo/context.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include "src/core/call.hpp"

namespace ccl_tests::gloo_module {

// Slots of our own messages; Gloo's collectives use small prefixes in the top byte.
inline constexpr std::uint64_t message_slot = std::uint64_t{0x80} << 56;
inline constexpr std::uint64_t ring_slot = std::uint64_t{0x81} << 56;

// Posts all messages together and waits for them: receives first, so that no send waits for one.
// Messages of one pair match in the order of posting (Gloo's slots are first in, first out). A
// message to oneself is a copy, because Gloo has no connection of a rank to itself. limit: of each
// wait.
void transfer(gloo::Context& context, std::span<const Message> messages,
              std::chrono::milliseconds limit);

}  // namespace ccl_tests::gloo_module
