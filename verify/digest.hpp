// Short numbers that stand for bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace ccl_tests::verify {

// Returns XXH3 (64 bits) of the bytes; before: the digest of what stands before them, from which it depends, too.
std::uint64_t digest(std::span<const std::byte> bytes, std::uint64_t before = 0);

std::string digest_text(std::uint64_t digest);  // 16 hexadecimal digits

}  // namespace ccl_tests::verify
