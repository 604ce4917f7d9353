#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "verify/arithmetic.hpp"
#include "verify/input_rules.hpp"
#include "verify/inputs.hpp"
#include "verify/width.hpp"

namespace ccl_tests::verify {
namespace {

// Bits of a random number, taken from its low end.
class Draw {
 public:
  explicit Draw(std::uint64_t random) : left_(random) {}
  int below(int n) {
    const auto value = static_cast<int>(left_ % static_cast<unsigned>(n));
    left_ /= static_cast<unsigned>(n);
    return value;
  }
  double sign() { return below(2) == 0 ? 1 : -1; }

 private:
  std::uint64_t left_;
};

// 1 to 2, with the bits that the format has.
double significand(const FloatFormat& format, std::uint64_t random) {
  return 1 + std::ldexp(static_cast<double>(random >> (65 - format.significand)),
                        1 - format.significand);
}

enum class Edge { tie, carry, cancellation, overflow, extreme, uniform };
constexpr int edges = 7;  // the last ones are uniform

}  // namespace

// A third of the elements is any finite bits; a third has exponents so near that all ranks'
// significands meet; a third is at an edge: a tie or nearly, a carry through all bits, a difference
// of a few last places, an overflow, the ends of the range, or evenly spread over the range.
template <class T>
double Inputs::wide_value(int rank, std::size_t j) const {
  constexpr FloatFormat format = float_format<T>();
  constexpr int p = format.significand;
  const Arithmetic type(format);
  const std::uint64_t own = hash(j, value_salt + static_cast<std::uint64_t>(rank));
  const std::uint64_t more = hash(j, more_salt + static_cast<std::uint64_t>(rank));
  const std::uint64_t shape = hash(j, shape_salt);
  const int place = turn(rank, j, 1);
  Draw draw(more);
  Draw shared(shape);
  const auto scaled = [&](double value, int exponent) {  // subnormal numbers lose their last bits
    return type.narrowed(
        std::ldexp(value, std::clamp(exponent, format.min_exponent - p, format.max_exponent)));
  };
  const auto finite = [&](double value) {
    return std::isfinite(value) ? std::clamp(value, -type.largest, type.largest) : type.largest;
  };
  const int flavour = shared.below(3);
  if (flavour == 0) {
    BitsOf<T> bits = static_cast<BitsOf<T>>(own);
    double value = to_double(std::bit_cast<T>(bits));
    if (!std::isfinite(value))  // another exponent: its last bit is 0 in every finite value below
      value = to_double(std::bit_cast<T>(static_cast<BitsOf<T>>(bits ^ (BitsOf<T>{1} << (p - 1)))));
    return value;
  }
  const double sign = draw.sign();
  const int range = format.max_exponent - format.min_exponent + p;
  const int exponent = format.min_exponent - p + 1 + shared.below(range);
  if (flavour == 1 && *op_ == ReduceOp::prod) {
    // The exponent of the product is anywhere in the range.
    const int part = exponent / ranks_ + (place == 0 ? exponent % ranks_ : 0);
    const int jitter = place == 0 ? 0 : draw.below(3) - 1;
    return finite(sign * scaled(significand(format, own), part + jitter));
  }
  if (flavour == 1)
    return finite(sign * scaled(significand(format, own), exponent - draw.below(p + 1)));
  // The element's first value, which all ranks know, and the last place of it.
  const double first = significand(format, hash(j, side_salt));
  const double last = std::ldexp(1.0, 1 - p);
  const double first_sign = shared.sign();
  const int edge = std::min(shared.below(edges), static_cast<int>(Edge::uniform));
  switch (static_cast<Edge>(edge)) {
    case Edge::tie: {
      if (place == 0) return finite(first_sign * scaled(first, exponent));
      const double beside = draw.below(2) == 0 ? 0 : std::ldexp(1.0, -1 - draw.below(p - 1));
      return finite(sign * scaled(last / 2 * (1 + beside), exponent));
    }
    case Edge::carry:
      if (place == 0) return finite(first_sign * scaled(2 - last, exponent));
      return finite(first_sign * scaled(last / (1 + draw.below(2)), exponent));
    case Edge::cancellation: {
      if (place == 0) return finite(first_sign * scaled(first, exponent));
      if (place > 1) return finite(sign * scaled(last, exponent - draw.below(2)));
      return finite(-first_sign * scaled(first + last * (draw.below(7) - 3), exponent));
    }
    case Edge::overflow:
      return finite((draw.below(4) == 0 ? sign : first_sign) *
                    scaled(significand(format, own), format.max_exponent - draw.below(3)));
    case Edge::extreme: {
      const double smallest_normal = std::ldexp(1.0, format.min_exponent);
      const std::array ends = {
          type.largest, smallest_normal, smallest_normal - type.smallest, type.smallest, 1.0, 0.0};
      return sign * ends.at(static_cast<std::size_t>(draw.below(ends.size())));
    }
    case Edge::uniform: break;
  }
  return finite(sign *
                type.narrowed(type.largest * std::ldexp(static_cast<double>(own >> 11), -53)));
}

// Half of the elements has one special value, on a rank that rotates, among ordinary numbers; in the
// other half each rank has one, or an ordinary number.
template <class T>
std::uint64_t Inputs::special_bits(int rank, std::size_t j) const {
  using U = BitsOf<T>;
  constexpr FloatFormat format = float_format<T>();
  constexpr bool infinities = format.max_exponent <= 1 - format.min_exponent;
  constexpr U sign = static_cast<U>(U{1} << (8 * sizeof(T) - 1));
  constexpr U ones = static_cast<U>(sign - 1);  // every bit but the sign
  constexpr U hidden = static_cast<U>(U{1} << (format.significand - 1));
  constexpr U infinity = static_cast<U>(ones & ~(hidden - 1));
  constexpr U quiet = static_cast<U>(hidden >> 1);
  constexpr std::array finite = {U{0},
                                 sign,
                                 U{1},
                                 static_cast<U>(hidden - 1),  // the largest subnormal number
                                 hidden,
                                 static_cast<U>(infinities ? infinity - 1 : ones - 1)};
  constexpr std::array beyond = {infinity, static_cast<U>(infinity | sign),
                                 static_cast<U>(infinity | quiet), static_cast<U>(infinity | 1U)};
  const std::uint64_t own = hash(j, value_salt + static_cast<std::uint64_t>(rank));
  Draw draw(hash(j, more_salt + static_cast<std::uint64_t>(rank)));
  const bool one = (hash(j, shape_salt) & 1U) != 0;
  const bool ordinary = one ? turn(rank, j, 1) != 0 : draw.below(4) == 0;
  const U own_sign = draw.below(2) == 0 ? U{0} : sign;
  if (ordinary) {
    const double value = std::ldexp(significand(format, own), draw.below(5) - 2);
    return static_cast<U>(std::bit_cast<U>(from_double<T>(value)) ^ own_sign);
  }
  const int which = draw.below(finite.size() + beyond.size());
  if (which < static_cast<int>(finite.size()))
    return static_cast<U>(finite[static_cast<std::size_t>(which)] ^ own_sign);
  return infinities ? beyond[static_cast<std::size_t>(which) - finite.size()] : U{ones};
}

template double Inputs::wide_value<Half>(int, std::size_t) const;
template double Inputs::wide_value<BFloat16>(int, std::size_t) const;
template double Inputs::wide_value<Float8E4M3>(int, std::size_t) const;
template double Inputs::wide_value<Float8E5M2>(int, std::size_t) const;
template double Inputs::wide_value<float>(int, std::size_t) const;
template double Inputs::wide_value<double>(int, std::size_t) const;
template std::uint64_t Inputs::special_bits<Half>(int, std::size_t) const;
template std::uint64_t Inputs::special_bits<BFloat16>(int, std::size_t) const;
template std::uint64_t Inputs::special_bits<Float8E4M3>(int, std::size_t) const;
template std::uint64_t Inputs::special_bits<Float8E5M2>(int, std::size_t) const;
template std::uint64_t Inputs::special_bits<float>(int, std::size_t) const;
template std::uint64_t Inputs::special_bits<double>(int, std::size_t) const;

}  // namespace ccl_tests::verify
