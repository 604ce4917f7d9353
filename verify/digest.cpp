#include "verify/digest.hpp"

#define XXH_INLINE_ALL  // NOLINT(readability-identifier-naming): xxHash's name
#include <fmt/format.h>
#include <xxhash.h>

namespace ccl_tests::verify {

std::uint64_t digest(std::span<const std::byte> bytes, std::uint64_t before) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), before);
}

std::string digest_text(std::uint64_t digest) { return fmt::format("{:016x}", digest); }

}  // namespace ccl_tests::verify
