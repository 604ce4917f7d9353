// SHA-256 (FIPS 180-4) and HMAC with it (RFC 2104).
#pragma once

#include <string>
#include <string_view>

namespace ccl_tests {

// Return 32 bytes.
std::string sha256(std::string_view bytes);
std::string hmac_sha256(std::string_view key, std::string_view bytes);

// Returns the first 8 bytes of the SHA-256 of a text as 16 hexadecimal digits.
std::string text_digest(std::string_view text);

}  // namespace ccl_tests
