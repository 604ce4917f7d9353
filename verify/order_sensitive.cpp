#include "verify/order_sensitive.hpp"

#define XXH_INLINE_ALL  // NOLINT(readability-identifier-naming): xxHash's name
#include <fmt/format.h>
#include <xxhash.h>

#include <bit>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "src/core/mix.hpp"
#include "verify/width.hpp"

namespace ccl_tests::verify {
namespace {

constexpr std::uint64_t order_salt = 1U << 24;  // + contributor

// Sign, exponent and fraction as IEEE 754 lays them out. One of 4 binades below 2; of products one of 2, so
// that theirs stay near 1.
template <class T>
T float_element(ReduceOp op, std::uint64_t random) {
  constexpr FloatFormat format = float_format<T>();
  constexpr int fraction_bits = format.significand - 1, random_sign = 63, random_binade = 61;
  constexpr std::uint64_t bias = 1 - format.min_exponent;
  const std::uint64_t binade = (random >> random_binade) % (op == ReduceOp::prod ? 2 : 4);
  const std::uint64_t bits = (random >> random_sign) << (8 * sizeof(T) - 1) |
                             (bias - binade) << fraction_bits |
                             (random & ((std::uint64_t{1} << fraction_bits) - 1));
  return std::bit_cast<T>(static_cast<BitsOf<T>>(bits));
}

template <class T>
T integer_element(const OrderSensitive& data, int contributor, std::uint64_t random) {
  if (data.integers_wrap) return static_cast<T>(random);
  using enum ReduceOp;
  const auto most = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
  if (data.op == prod) {
    if (contributor == 0) return static_cast<T>(random % most);
    return static_cast<T>(std::is_signed_v<T> && random % 2 != 0 ? -1 : 1);
  }
  if (data.op != sum && data.op != avg && data.op != mulsum) return static_cast<T>(random);
  const auto terms = 2 * static_cast<std::uint64_t>(data.ranks);  // mulsum doubles some
  return static_cast<T>(random % (most / terms + 1));
}

}  // namespace

void OrderSensitive::fill(std::span<std::byte> data, int contributor, std::size_t first) const {
  const std::uint64_t start =
      mix(mix(seed) ^ (order_salt + static_cast<std::uint64_t>(contributor)));
  with_type(type, [&]<class T>() {
    for (std::size_t i = 0; i < data.size() / sizeof(T); ++i) {
      const std::uint64_t random = mix(start + first + i);
      T value;
      if constexpr (is_float<T>) {
        value = float_element<T>(op, random);
      } else {
        value = integer_element<T>(*this, contributor, random);
      }
      std::memcpy(data.data() + i * sizeof(T), &value, sizeof(T));
    }
  });
}

int contributor(Exchange exchange, int rank, int ranks) {
  switch (exchange) {
    case Exchange::none: break;
    case Exchange::rotated: return (rank + 1) % ranks;
    case Exchange::swapped: return ranks > 2 && (rank == 1 || rank == 2) ? 3 - rank : rank;
    case Exchange::shuffled: {
      std::vector<int> all(static_cast<std::size_t>(ranks));
      std::iota(all.begin(), all.end(), 0);
      for (std::size_t left = all.size(); left > 1; --left)
        std::swap(all[left - 1], all[mix(left) % left]);
      return all[static_cast<std::size_t>(rank)];
    }
  }
  return rank;
}

std::uint64_t distance(DataType type, const std::byte* a, const std::byte* b) {
  return with_type(type, [&]<class T>() -> std::uint64_t {
    if constexpr (is_float<T>) {
      return ulp_distance(load<BitsOf<T>>(a), load<BitsOf<T>>(b));
    } else {
      const T x = load<T>(a), y = load<T>(b);
      const auto wide = [](T value) { return static_cast<std::uint64_t>(value); };
      return x > y ? wide(x) - wide(y) : wide(y) - wide(x);
    }
  });
}

std::string element_text(DataType type, const std::byte* element) {
  return with_type(type, [&]<class T>() {
    const T value = load<T>(element);
    const std::string bits = fmt::format("0x{:0{}x}", load<BitsOf<T>>(element), 2 * sizeof(T));
    if constexpr (is_float<T>) {
      return fmt::format("{:.{}g} ({})", to_double(value), std::is_same_v<T, double> ? 17 : 9,
                         bits);
    } else {
      return fmt::format("{} ({})", +value, bits);
    }
  });
}

std::uint64_t digest(std::span<const std::byte> bytes, std::uint64_t before) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), before);
}

std::string digest_text(std::uint64_t digest) { return fmt::format("{:016x}", digest); }

}  // namespace ccl_tests::verify
