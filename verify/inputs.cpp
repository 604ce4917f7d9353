#include "verify/inputs.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace ccl::verify {
namespace {

// splitmix64's finaliser (Steele, Lea, Flood 2014).
std::uint64_t mix(std::uint64_t x) {
  x += 0x9e3779b97f4a7c15U;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9U;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

std::size_t choose_period(int ranks) {
  if (ranks <= 2046) return 4093;
  return ranks <= 8190 ? 16381 : 65521;
}

template <class T>
using Bits = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

template <class T>
std::uint64_t to_bits(T value) {
  return std::bit_cast<Bits<T>>(value);
}

// How the contributors of a float sum share the 2^p units of either sign.
struct SumPlan {
  std::size_t contributors;
  std::uint64_t largest;  // units per contributor
};
std::size_t sum_contributors(int significand, bool doubled, int ranks) {
  const int most_bits = significand - (doubled ? 1 : 0) + 1;
  return std::min(static_cast<std::size_t>(ranks), std::size_t{1} << most_bits);
}
SumPlan plan_sum(int significand, bool doubled, int ranks) {
  const std::uint64_t budget = std::uint64_t{1} << (significand - (doubled ? 1 : 0));
  const std::size_t contributors = sum_contributors(significand, doubled, ranks);
  return {contributors, std::max<std::uint64_t>(1, budget / ((contributors + 1) / 2))};
}

// Integers that must not overflow: units of either sign within half of the type's range.
template <class T>
constexpr int bounded_bits = std::numeric_limits<T>::digits - (std::is_signed_v<T> ? 1 : 2);
constexpr std::size_t bounded_prod_step = 4;  // an odd number and three factors 2

constexpr int prod_powers = 6;  // factors 2, and as many factors 1/2, per element
constexpr std::size_t prod_step = 2 * prod_powers + 1;  // ranks with a factor other than +-1

constexpr std::uint64_t shape_salt = 1;         // properties of an element, the same on every rank
constexpr std::uint64_t value_salt = 1U << 20;  // + rank

}  // namespace

Inputs::Inputs(DataType type, std::optional<ReduceOp> op, int ranks, std::uint64_t seed,
               bool integers_wrap)
    : type_(type),
      op_(op),
      ranks_(ranks),
      seed_(mix(seed)),
      integers_wrap_(integers_wrap),
      first_turn_(seed_ % static_cast<std::uint64_t>(ranks)),
      period_(choose_period(ranks)) {}

std::uint64_t Inputs::hash(std::size_t j, std::uint64_t salt) const {
  return mix(mix(seed_ ^ salt) + j);
}

// The place of `rank` in element j's order, which advances by `step` ranks per element: 0 .. ranks
// - 1.
int Inputs::turn(int rank, std::size_t j, std::size_t step) const {
  const auto n = static_cast<std::uint64_t>(ranks_);
  const auto place = static_cast<std::uint64_t>(rank);
  const std::uint64_t start = (j * step + first_turn_) % n;
  return static_cast<int>(place < start ? place + n - start : place - start);
}

template <class T>
double Inputs::float_value(int rank, std::size_t j) const {
  constexpr FloatFormat format = float_format<T>();
  constexpr int p = format.significand;
  const std::uint64_t shape = hash(j, shape_salt);
  const std::uint64_t own = hash(j, value_salt + static_cast<std::uint64_t>(rank));
  const auto significand = [&](std::uint64_t random) {  // 1 .. 2 - 2^(1-p)
    return 1.0 + std::ldexp(static_cast<double>(random >> (65 - p)), 1 - p);
  };
  switch (*op_) {
    case ReduceOp::sum:
    case ReduceOp::mulsum: {
      const SumPlan plan = plan_sum(p, *op_ == ReduceOp::mulsum, ranks_);
      const int place = turn(rank, j, plan.contributors);
      if (static_cast<std::size_t>(place) >= plan.contributors) return 0;
      constexpr int lowest = std::max(format.min_exponent, -4);
      constexpr int highest = std::min(format.max_exponent - p, 4);
      const int exponent = lowest + static_cast<int>((shape >> 8) % (highest - lowest + 1));
      const double units = static_cast<double>(1 + own % plan.largest);
      const bool negative = ((static_cast<unsigned>(place) + shape) & 1U) != 0;
      return std::ldexp(negative ? -units : units, exponent);
    }
    case ReduceOp::prod: {
      const int place = turn(rank, j, prod_step);
      const double sign = (own & 1U) != 0 ? -1 : 1;
      if (place == 0) {
        const double value = significand(own);
        return value == 1 ? -1 : sign * value;
      }
      if (place <= prod_powers) return 2 * sign;
      return place <= 2 * prod_powers ? sign / 2 : sign;
    }
    case ReduceOp::min:
    case ReduceOp::max: {
      constexpr int lowest = std::max(format.min_exponent, -6);
      constexpr int middle = 1;
      const bool owner = turn(rank, j, 1) == 0;
      const std::uint64_t flavour = (shape >> 16) % 3;  // signs differ; all positive; all negative
      const bool high = flavour == 1 ? owner : flavour == 2 ? !owner : (own & 1U) != 0;
      const bool negative = flavour == 0 ? !owner : flavour == 2;
      const int exponent = (high ? middle : lowest) + static_cast<int>((own >> 1) % 7);
      const double magnitude = std::ldexp(significand(own), exponent);
      return negative == (*op_ == ReduceOp::max) ? -magnitude : magnitude;
    }
    case ReduceOp::avg: {
      const int place = turn(rank, j, 2);
      if (place > 1) return 0;
      constexpr int spread =
          p < 8 ? 1 : 3;  // 8-bit types: equal, or the loss of one stays within the tolerance
      const int exponent = 4 + static_cast<int>((shape >> 8) % 4) +
                           (place == 1 ? static_cast<int>((shape >> 16) % spread) : 0);
      return std::ldexp((shape & 1U) != 0 ? -1.0 : 1.0, exponent);
    }
  }
  return 0;
}

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
  const SumPlan plan = plan_sum(bounded_bits<T>, *op_ == ReduceOp::mulsum, ranks_);
  const int place = turn(rank, j, plan.contributors);
  if (static_cast<std::size_t>(place) >= plan.contributors) return 0;
  const bool negative = std::is_signed_v<T> && ((static_cast<unsigned>(place) + shape) & 1U) != 0;
  return signed_as(static_cast<U>(1 + own % plan.largest), negative);
}

template <class T>
T Inputs::integer_value(int rank, std::size_t j) const {
  if (!integers_wrap_ && *op_ != ReduceOp::min && *op_ != ReduceOp::max)
    return bounded_value<T>(rank, j);
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
  }
  return 0;
}

template <class T>
std::uint64_t Inputs::reduced_as(std::size_t j, int without) const {
  const auto fold = [&](auto start, auto value, auto combine) {
    bool first = true;
    for (int rank = 0; rank < ranks_; ++rank) {
      if (rank == without) continue;
      start = first ? value(rank) : combine(start, value(rank));
      first = false;
    }
    return start;
  };
  const ReduceOp op = *op_;
  if constexpr (is_float<T>) {
    // Exact in double by construction; only the division of avg rounds.
    const auto value = [&](int rank) {
      return float_value<T>(rank, j) * (op == ReduceOp::mulsum ? mulsum_scalar(rank) : 1);
    };
    const double result = fold(0.0, value, [&](double a, double b) {
      switch (op) {
        case ReduceOp::prod: return a * b;
        case ReduceOp::min: return std::min(a, b);
        case ReduceOp::max: return std::max(a, b);
        case ReduceOp::sum:
        case ReduceOp::avg:
        case ReduceOp::mulsum: return a + b;
      }
      return a;
    });
    return to_bits(from_double<T>(op == ReduceOp::avg ? result / ranks_ : result));
  } else {
    using U = std::make_unsigned_t<T>;
    const auto value = [&](int rank) {
      const auto v = static_cast<std::uint64_t>(integer_value<T>(rank, j));
      return static_cast<T>(
          v * static_cast<std::uint64_t>(op == ReduceOp::mulsum ? mulsum_scalar(rank) : 1));
    };
    const T result = fold(T{0}, value, [&](T a, T b) {
      const auto ua = static_cast<std::uint64_t>(a);
      const auto ub = static_cast<std::uint64_t>(b);
      switch (op) {
        case ReduceOp::prod: return static_cast<T>(static_cast<U>(ua * ub));
        case ReduceOp::min: return std::min(a, b);
        case ReduceOp::max: return std::max(a, b);
        case ReduceOp::sum:
        case ReduceOp::avg:
        case ReduceOp::mulsum: return static_cast<T>(static_cast<U>(ua + ub));
      }
      return a;
    });
    if (op != ReduceOp::avg) return to_bits(result);
    if constexpr (std::is_signed_v<T>)
      return to_bits(static_cast<T>(static_cast<std::int64_t>(result) / ranks_));
    return to_bits(
        static_cast<T>(static_cast<std::uint64_t>(result) / static_cast<std::uint64_t>(ranks_)));
  }
}

std::uint64_t Inputs::bits(int rank, std::size_t j) const {
  if (!op_) return hash(j, shape_salt) & (~std::uint64_t{0} >> (64 - 8 * size_of(type_)));
  return with_type(type_, [&]<class T>() {
    if constexpr (is_float<T>) {
      return to_bits(from_double<T>(float_value<T>(rank, j)));
    } else {
      return to_bits(integer_value<T>(rank, j));
    }
  });
}

std::uint64_t Inputs::reduced(std::size_t j, int without) const {
  return with_type(type_, [&]<class T>() { return reduced_as<T>(j, without); });
}

std::uint64_t Inputs::total(std::size_t j) const {
  if (op_ != ReduceOp::avg) return 0;
  return with_type(type_, [&]<class T>() {
    std::uint64_t sum = 0;
    if constexpr (!is_float<T>) {
      for (int rank = 0; rank < ranks_; ++rank) {
        sum += static_cast<std::uint64_t>(integer_value<T>(rank, j));
      }
    }
    return sum;
  });
}

template <class T>
bool Inputs::shows_loss_as(int rank, std::size_t j, std::uint64_t total) const {
  const ReduceOp op = *op_;
  const auto place = [&](std::size_t step) {
    return static_cast<std::size_t>(turn(rank, j, step));
  };
  if (op == ReduceOp::min || op == ReduceOp::max) return place(1) == 0;
  if constexpr (is_float<T>) {
    if (op == ReduceOp::avg) return place(2) <= 1;
    if (op == ReduceOp::prod) {  // beyond the first places factors are 1 and -1
      const std::uint64_t own = hash(j, value_salt + static_cast<std::uint64_t>(rank));
      return place(prod_step) < prod_step || (own & 1U) != 0;
    }
    const std::size_t contributors =
        sum_contributors(float_format<T>().significand, op == ReduceOp::mulsum, ranks_);
    return contributors == static_cast<std::size_t>(ranks_) || place(contributors) < contributors;
  } else {
    if (op != ReduceOp::avg && integers_wrap_) return true;  // no value is 0, or 1 in a product
    if (op != ReduceOp::avg) return integer_value<T>(rank, j) != (op == ReduceOp::prod ? 1 : 0);
    using Wide = std::conditional_t<std::is_signed_v<T>, std::int64_t, std::uint64_t>;
    const auto mean = [&](std::uint64_t sum) {
      return static_cast<Wide>(static_cast<T>(sum)) / static_cast<Wide>(ranks_);
    };
    return mean(total) != mean(total - static_cast<std::uint64_t>(integer_value<T>(rank, j)));
  }
}

bool Inputs::shows_loss(int rank, std::size_t j, std::uint64_t total) const {
  if (!op_ || ranks_ == 1) return true;
  return with_type(type_, [&]<class T>() { return shows_loss_as<T>(rank, j, total); });
}

int Inputs::tolerance() const {
  const bool floating = with_type(type_, []<class T>() { return is_float<T>; });
  return op_ == ReduceOp::avg && floating && ranks_ > 1 ? 2 : 0;
}

std::optional<const char*> Inputs::not_verifiable() const {
  if (op_ != ReduceOp::avg) return std::nullopt;
  return with_type(type_, [&]<class T>() -> std::optional<const char*> {
    if constexpr (is_float<T> && sizeof(T) == 1) {
      if (ranks_ > 64) return "an 8-bit float average of more than 64 ranks rounds to nothing";
    } else if constexpr (!is_float<T> && sizeof(T) < 4) {
      if (ranks_ > static_cast<int>(std::numeric_limits<T>::max())) {
        return "an 8-bit integer average of so many ranks is always 0";
      }
    }
    return std::nullopt;
  });
}

}  // namespace ccl::verify
