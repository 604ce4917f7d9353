// The TCPStore protocol of PyTorch 2.2 and later: numbers and limits of a client.
// Integers in native byte order; a string or blob is its length in 8 bytes, then its bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

namespace ccl_tests {

enum class StoreOp : std::uint8_t {
  validate = 0,
  set = 1,
  compare_set = 2,
  get = 3,
  add = 4,
  check = 5,
  wait = 6,
  num_keys = 7,
  delete_key = 8,
  append = 9,
  multi_get = 10,
  multi_set = 11,
  cancel_wait = 12,
  ping = 13,
};

inline constexpr std::uint32_t store_magic = 0x3C85F7CE;
inline constexpr std::size_t store_blob_limit = 8 << 20;

template <class T>
void put(std::string& out, T value) {
  static_assert(std::is_trivially_copyable_v<T>);
  const std::size_t at = out.size();
  out.resize(at + sizeof(T));
  std::memcpy(out.data() + at, &value, sizeof(T));
}

inline void put_blob(std::string& out, std::string_view bytes) {
  put<std::uint64_t>(out, bytes.size());
  out += bytes;
}

}  // namespace ccl_tests
