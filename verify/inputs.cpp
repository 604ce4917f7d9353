#include "verify/inputs.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <vector>

#include "src/core/mix.hpp"
#include "verify/input_rules.hpp"
#include "verify/right_results.hpp"
#include "verify/width.hpp"

namespace ccl_tests::verify {
namespace {

constexpr std::array<std::string_view, 3> kind_names = {"exact", "wide", "special"};

std::size_t highest_prime(std::size_t most) {
  const auto is_prime = [](std::size_t n) {
    for (std::size_t d = 3; d * d <= n; d += 2)
      if (n % d == 0) return false;
    return true;
  };
  std::size_t n = most - 1 + most % 2;  // odd
  while (!is_prime(n)) n -= 2;
  return n;
}

std::size_t choose_period(int ranks, std::size_t wide_elements) {
  constexpr std::size_t turns = 8;
  if (wide_elements > 0)
    return highest_prime(std::max(wide_elements, turns * static_cast<std::size_t>(ranks)));
  if (ranks <= 2046) return 4093;
  return ranks <= 8190 ? 16381 : 65521;
}

template <class T>
std::uint64_t to_bits(T value) {
  return std::bit_cast<BitsOf<T>>(value);
}

}  // namespace

Inputs::Inputs(DataType type, std::optional<ReduceOp> op, int ranks, std::uint64_t seed,
               bool integers_wrap, std::uint64_t largest, DataChoice data)
    : type_(type),
      op_(op),
      ranks_(ranks),
      seed_(mix(seed)),
      integers_wrap_(integers_wrap),
      largest_(largest),
      first_turn_(seed_ % static_cast<std::uint64_t>(ranks)),
      kind_(op && is_floating_point(type) ? data.kind : DataKind::exact),
      period_(choose_period(ranks, kind_ == DataKind::exact ? 0 : data.bytes / size_of(type))) {}

std::string_view name(DataKind kind) { return kind_names.at(static_cast<std::size_t>(kind)); }
std::optional<DataKind> parse_data_kind(std::string_view text) {
  return value_named<DataKind>(kind_names, text);
}

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
      return float_value(rank, j) * (op == ReduceOp::mulsum ? mulsum_scalar(rank) : 1);
    };
    const double result = fold(0.0, value, [&](double a, double b) {
      switch (op) {
        case ReduceOp::prod: return a * b;
        case ReduceOp::min: return std::min(a, b);
        case ReduceOp::max: return std::max(a, b);
        case ReduceOp::sum:
        case ReduceOp::avg:
        case ReduceOp::mulsum: return a + b;
        case ReduceOp::band:
        case ReduceOp::bor:
        case ReduceOp::bxor: break;
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
        case ReduceOp::band: return static_cast<T>(static_cast<U>(ua & ub));
        case ReduceOp::bor: return static_cast<T>(static_cast<U>(ua | ub));
        case ReduceOp::bxor: return static_cast<T>(static_cast<U>(ua ^ ub));
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
  const std::uint64_t random = hash(j, shape_salt);
  if (!op_ && largest_ == 0) return random & (~std::uint64_t{0} >> (64 - 8 * size_of(type_)));
  if (!op_) {
    const auto magnitude = static_cast<std::int64_t>(1 + (random >> 1) % largest_);
    const std::int64_t value = (random & 1U) != 0 ? -magnitude : magnitude;
    return with_type(type_, [&]<class T>() {
      if constexpr (is_float<T>)
        return to_bits(from_double<T>(static_cast<double>(value)));
      else
        return to_bits(static_cast<T>(value));
    });
  }
  return with_type(type_, [&]<class T>() {
    if constexpr (is_float<T>) {
      if (kind_ == DataKind::special) return special_bits<T>(rank, j);
      return to_bits(
          from_double<T>(kind_ == DataKind::wide ? wide_value<T>(rank, j) : float_value(rank, j)));
    } else {
      return to_bits(integer_value<T>(rank, j));
    }
  });
}

std::uint64_t Inputs::reduced(std::size_t j, int without) const {
  if (kind_ != DataKind::exact) return RightResults(*this, j, without).in_rank_order();
  return with_type(type_, [&]<class T>() { return reduced_as<T>(j, without); });
}

std::uint64_t Inputs::total(std::size_t j) const {
  if (op_ != ReduceOp::avg) return 0;
  return with_type(type_, [&]<class T>() {
    std::uint64_t sum = 0;
    if constexpr (!is_float<T>) {
      for (int rank = 0; rank < ranks_; ++rank)
        sum += static_cast<std::uint64_t>(integer_value<T>(rank, j));
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
  if (op == ReduceOp::band || op == ReduceOp::bor) return place(bitwise_owners) < bitwise_owners;
  if (op == ReduceOp::bxor) return true;  // no value is 0
  if constexpr (is_float<T>) {
    if (op == ReduceOp::avg && !averages_exactly(ranks_)) return place(2) <= 1;
    if (op == ReduceOp::prod) {  // beyond the first places factors are 1 and -1
      const std::uint64_t own = hash(j, value_salt + static_cast<std::uint64_t>(rank));
      return place(prod_step) < prod_step || (own & 1U) != 0;
    }
    const std::size_t contributors = sum_contributors(
        float_budget(float_format<T>().significand, op == ReduceOp::mulsum), ranks_);
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
  if (kind_ != DataKind::exact) return reduced(j) != reduced(j, rank);
  return with_type(type_, [&]<class T>() { return shows_loss_as<T>(rank, j, total); });
}

int tolerance(DataType type, std::optional<ReduceOp> op, int ranks) {
  if (op != ReduceOp::avg || averages_exactly(ranks)) return 0;
  return with_type(type, []<class T>() { return is_float<T> && sizeof(T) > 1 ? 2 : 0; });
}

int Inputs::tolerance() const {
  return kind_ == DataKind::exact ? verify::tolerance(type_, op_, ranks_) : 0;
}

bool Inputs::verifiable() const {
  if (op_ != ReduceOp::avg || size_of(type_) > 1) return true;
  if (is_floating_point(type_)) return ranks_ <= 64;  // an average of more rounds to nothing
  // The average of more ranks than the largest sum is always 0. Sums that must not overflow have
  // two parts, one of them taken twice.
  const int highest = type_ == DataType::int8 ? 127 : 255;
  return ranks_ <= (integers_wrap_ ? highest : 2 * (highest / 3));
}

std::size_t first_phases(const Inputs& inputs) {
  constexpr std::size_t most = 65521;  // a phase is a 16-bit number
  return std::min(most, inputs.period() - static_cast<std::size_t>(inputs.ranks()));
}

double coverage(const Inputs& inputs, std::size_t start, std::size_t count) {
  if (!inputs.op() || inputs.ranks() == 1) return 1;
  std::vector<int> hidden(static_cast<std::size_t>(inputs.ranks()));
  std::iota(hidden.begin(), hidden.end(), 0);
  const std::size_t end = start + std::min(count, inputs.period());
  for (std::size_t i = start; i < end && !hidden.empty(); ++i) {
    const std::size_t j = i % inputs.period();
    const std::uint64_t total = inputs.total(j);
    const auto shown = [&](int rank) { return inputs.shows_loss(rank, j, total); };
    std::erase_if(hidden, shown);
  }
  return 1 - static_cast<double>(hidden.size()) / inputs.ranks();
}

}  // namespace ccl_tests::verify
