#include <bit>
#include <limits>
#include <type_traits>

#include "verify/input_rules.hpp"
#include "verify/inputs.hpp"

namespace ccl_tests::verify {
namespace {

// Units of either sign of sums that must not overflow.
template <class T>
constexpr std::uint64_t sum_budget = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
constexpr std::size_t bounded_prod_step = 4;  // an odd number and three factors 2

bool may_overflow(ReduceOp op) {
  using enum ReduceOp;
  return op == sum || op == prod || op == avg || op == mulsum;
}

}  // namespace

// Sums, averages and products whose partial results stay within the type in any order.
template <class T>
T Inputs::bounded_value(int rank, std::size_t j) const {
  using U = std::make_unsigned_t<T>;
  const std::uint64_t shape = hash(j, shape_salt);
  const std::uint64_t own = hash(j, value_salt + static_cast<std::uint64_t>(rank));
  const auto signed_as = [](U magnitude, bool negative) {
    return static_cast<T>(negative ? static_cast<U>(U{0} - magnitude) : magnitude);
  };
  if (*op_ == ReduceOp::prod) {
    const int place = turn(rank, j, bounded_prod_step);
    const bool negative = std::is_signed_v<T> && (own & 1U) != 0;
    if (place == 0) {
      const U mask = static_cast<U>((U{1} << (std::numeric_limits<T>::digits - 4)) - 1);
      const U odd = static_cast<U>(((own >> 1) & mask) | 1U);
      return signed_as(odd == 1 ? U{3} : odd, negative);
    }
    return signed_as(place < static_cast<int>(bounded_prod_step) ? U{2} : U{1}, negative);
  }
  const std::uint64_t budget = sum_budget<T> / (*op_ == ReduceOp::mulsum ? 2 : 1);
  // Two ranks decide an average of 8 bits, which the loss of a small part would not change. Without signs parts are of two
  // units or more, so that sums differ.
  const bool by_two = *op_ == ReduceOp::avg && sizeof(T) == 1;
  const std::uint64_t most = by_two ? 3 : std::is_signed_v<T> ? budget : budget / 2;
  const std::size_t contributors = sum_contributors(most, ranks_);
  const auto place = static_cast<std::size_t>(turn(rank, j, contributors));
  if (place >= contributors) return 0;
  const std::size_t positive =
      std::is_signed_v<T> ? (shape >> 8) % (contributors + 1) : contributors;
  const SumPart part = sum_part(budget, contributors, positive, place);
  return signed_as(static_cast<U>(1 + own % part.largest), part.negative);
}

// The bits that `rank` clears for band, and sets for bor. The result lacks full-entropy bits, each
// cleared by the first owner, by the second or by both. Three neighbouring bits make sure of one of
// each: either owner's loss shows, no rank's input is the result, and bxor is something else at any
// number of ranks.
template <class U>
U Inputs::bitwise_share(int rank, std::size_t j) const {
  const int place = turn(rank, j, bitwise_owners);
  if (static_cast<std::size_t>(place) >= bitwise_owners) return 0;
  const bool first = place == 0;
  const U lacking = static_cast<U>(hash(j, shape_salt));
  const U side = static_cast<U>(first ? hash(j, side_salt) : ~hash(j, side_salt));
  const std::uint64_t shared = hash(j, shared_salt);
  const int at = static_cast<int>(shared % std::numeric_limits<U>::digits);
  const U mine = std::rotl(static_cast<U>(first ? 1 : 2), at);
  const U others = std::rotl(static_cast<U>(first ? 2 : 1), at);
  const U both = std::rotl(U{4}, at);
  return static_cast<U>(((lacking & (side | static_cast<U>(shared))) | mine | both) & ~others);
}

template <class T>
T Inputs::integer_value(int rank, std::size_t j) const {
  if (!integers_wrap_ && may_overflow(*op_)) return bounded_value<T>(rank, j);
  using U = std::make_unsigned_t<T>;
  const U own = static_cast<U>(hash(j, value_salt + static_cast<std::uint64_t>(rank)) >> 7);
  switch (*op_) {
    case ReduceOp::sum:
    case ReduceOp::avg: return static_cast<T>(own == 0 ? U{1} : own);
    case ReduceOp::mulsum: return static_cast<T>(static_cast<U>(own << 1) == 0 ? U{1} : own);
    case ReduceOp::prod: {
      const U odd = static_cast<U>(own | 1U);
      return static_cast<T>(odd == 1 ? U{3} : odd);
    }
    case ReduceOp::min:
    case ReduceOp::max: {
      // The owner draws from the upper part, the others from the lower; min mirrors the order by ~.
      const bool owner = turn(rank, j, 1) == 0;
      constexpr int width = std::numeric_limits<U>::digits;
      U value = static_cast<U>(own >> 2);  // below the upper quarters
      if (std::is_unsigned_v<T>) {
        value = static_cast<U>(value | (owner ? U{1} << (width - 1) : U{0}));
      } else {
        // Flavours of signed values: the owner positive and the others negative; all positive; all
        // negative.
        const std::uint64_t flavour = (hash(j, shape_salt) >> 16) % 3;
        const bool negative = flavour == 0 ? !owner : flavour == 2;
        const U upper = owner ? static_cast<U>(U{1} << (width - 2)) : U{0};
        value = static_cast<U>(value | upper | (negative ? U{1} << (width - 1) : U{0}));
      }
      return static_cast<T>(*op_ == ReduceOp::max ? value : static_cast<U>(~value));
    }
    case ReduceOp::band: return static_cast<T>(~bitwise_share<U>(rank, j));
    case ReduceOp::bor: return static_cast<T>(bitwise_share<U>(rank, j));
    case ReduceOp::bxor: {
      const U any = static_cast<U>(hash(j, value_salt + static_cast<std::uint64_t>(rank)));
      return static_cast<T>(any == 0 ? U{1} : any);
    }
  }
  return 0;
}

template std::int8_t Inputs::integer_value<std::int8_t>(int, std::size_t) const;
template std::uint8_t Inputs::integer_value<std::uint8_t>(int, std::size_t) const;
template std::int32_t Inputs::integer_value<std::int32_t>(int, std::size_t) const;
template std::uint32_t Inputs::integer_value<std::uint32_t>(int, std::size_t) const;
template std::int64_t Inputs::integer_value<std::int64_t>(int, std::size_t) const;
template std::uint64_t Inputs::integer_value<std::uint64_t>(int, std::size_t) const;

}  // namespace ccl_tests::verify
