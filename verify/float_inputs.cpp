#include <algorithm>
#include <bit>
#include <cmath>

#include "verify/input_rules.hpp"
#include "verify/inputs.hpp"

namespace ccl_tests::verify {

double Inputs::float_value(int rank, std::size_t j) const {
  const FloatFormat format = with_type(type_, []<class T>() { return float_format<T>(); });
  const int p = format.significand;
  const std::uint64_t shape = hash(j, shape_salt);
  const std::uint64_t own = hash(j, value_salt + static_cast<std::uint64_t>(rank));
  const auto significand = [&](std::uint64_t random) {  // 1 .. 2 - 2^(1-p)
    return 1.0 + std::ldexp(static_cast<double>(random >> (65 - p)), 1 - p);
  };
  // halvings: of a unit that is still a normal number.
  const auto share_of_sum = [&](int halvings) -> double {
    const std::uint64_t budget = float_budget(p, *op_ == ReduceOp::mulsum);
    const std::size_t contributors = sum_contributors(budget, ranks_);
    const auto place = static_cast<std::size_t>(turn(rank, j, contributors));
    if (place >= contributors) return 0;
    const SumPart part = sum_part(budget, contributors, (shape >> 16) % (contributors + 1), place);
    const int highest = std::min(format.max_exponent - p, 4);
    const int lowest = std::clamp(format.min_exponent + halvings, -4, highest);
    const auto exponents = static_cast<unsigned>(highest - lowest + 1);
    const int exponent = lowest + static_cast<int>((shape >> 8) % exponents);
    const double units = static_cast<double>(1 + own % part.largest);
    return std::ldexp(part.negative ? -units : units, exponent);
  };
  switch (*op_) {
    case ReduceOp::sum:
    case ReduceOp::mulsum: return share_of_sum(0);
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
      const int lowest = std::max(format.min_exponent, -6);
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
      if (averages_exactly(ranks_))
        return share_of_sum(std::countr_zero(static_cast<unsigned>(ranks_)));
      const int place = turn(rank, j, 2);
      if (place > 1) return 0;
      const std::uint64_t spread = size_of(type_) == 1 ? 1 : 3;
      const int exponent = 4 + static_cast<int>((shape >> 8) % 4) +
                           (place == 1 ? static_cast<int>((shape >> 16) % spread) : 0);
      return std::ldexp((shape & 1U) != 0 ? -1.0 : 1.0, exponent);
    }
    case ReduceOp::band:
    case ReduceOp::bor:
    case ReduceOp::bxor: break;
  }
  return 0;
}

}  // namespace ccl_tests::verify
