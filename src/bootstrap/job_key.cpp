#include "src/bootstrap/job_key.hpp"

#include <random>

#include "src/core/sha256.hpp"

namespace ccl_tests {

std::string job_key(std::string_view job, std::string_view secret) {
  return hmac_sha256(secret, job);
}

std::string job_proof(const std::string& key, Side side, std::string_view nonce) {
  std::string text = side == Side::process ? "process " : "server ";
  return hmac_sha256(key, text.append(nonce));
}

bool are_equal(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |=
        static_cast<unsigned char>(a[i]) ^ static_cast<unsigned>(static_cast<unsigned char>(b[i]));
  return difference == 0;
}

std::string random_bytes(std::size_t count) {
  std::random_device random;
  std::string out;
  while (out.size() < count) out += static_cast<char>(random() & 0xff);
  return out;
}

std::string random_hex(std::size_t digits) {
  constexpr std::string_view digit = "0123456789abcdef";
  std::random_device random;
  std::string out;
  while (out.size() < digits) out += digit[random() % 16];
  return out;
}

}  // namespace ccl_tests
