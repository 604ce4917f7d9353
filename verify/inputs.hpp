// The input of each rank. Exact data: values made so that every reduction is exact in any order, and
// so that the loss of any rank's contribution changes the result as often as the type allows. Wide
// and special data ask for arithmetic; verify/judge.hpp says what is right there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "src/core/types.hpp"

namespace ccl_tests::verify {

// What the floating-point values of a reduction are. wide: over the whole finite range of the type;
// special: zeros of both signs, subnormal numbers, infinities and NaNs among others. Integers and
// data that are only moved are exact data's, which are any bits, in each kind.
enum class DataKind : std::uint8_t { exact, wide, special };
std::string_view name(DataKind kind);
std::optional<DataKind> parse_data_kind(std::string_view text);

// bytes: of one period of wide and special data.
struct DataChoice {
  DataKind kind = DataKind::exact;
  std::size_t bytes = std::size_t{1} << 20;
};

// Highest distance from the expected bits that is still right, in units in the last place: 0, but 2 for float averages of
// more than 8 bits over a number of ranks that is no power of two. There rounding 1/n moves the quotient by at most one
// unit, rounding the sum (or the quotient) by half a unit, and the expected value itself is rounded by half a unit.
int tolerance(DataType type, std::optional<ReduceOp> op, int ranks);

// Rule by operation (n ranks, element j of one period, p significand bits):
//  none          full-entropy bits; with a largest input M, whole numbers from -M to M without 0
//  float sum     signed multiples of one unit; the positive and the negative parts each stay within 2^p units, so every
//                partial sum in any order is exact; min(n, 2^(p+1)) contributors, rotating with j. mulsum: half of that
//  integer sum   any bits but 0 (modulo 2^w); integer avg: likewise, then divided, truncating toward zero
//  integer prod  odd numbers but 1: units modulo 2^w, so no factor can vanish
//  float prod    one rotating significand, signs, six factors 2 and six factors 1/2 (e4m3 ends at 448 and 2^-6), rotating
//  min, max      one rotating owner holds the extreme
//  float avg     n a power of two: as float sum, of units that n divides exactly; else two rotating contributors of equal
//                sign, powers of two: products with 1/n are exact but for 1/n's own rounding. Of 8-bit types these are
//                equal, so that their sum is a power of two as well
//  band, bor     two rotating owners clear (set) full-entropy bits, the others hold ones (0)
//  bxor          any bits but 0
class Inputs {
 public:
  // op empty: data movement; else one of ops_of(type). ranks >= 1.
  // integers_wrap: see Communicator; false: integer sums are built like float sums, products of a
  // rotating odd number, three factors 2 and, where the type has them, signs. largest: of inputs of
  // data movement; 0: any bits.
  Inputs(DataType type, std::optional<ReduceOp> op, int ranks, std::uint64_t seed,
         bool integers_wrap = true, std::uint64_t largest = 0, DataChoice data = {});

  DataType type() const { return type_; }
  std::optional<ReduceOp> op() const { return op_; }
  int ranks() const { return ranks_; }
  std::uint64_t largest() const { return largest_; }  // whole numbers; 0: any bits

  // exact: of whatever reduction one right result of each element is known.
  DataKind kind() const { return kind_; }

  // Prime. Exact data: 4093 up to 2046 ranks, so that all ranks' turns fit twice into one period.
  // Others: as many elements as DataChoice::bytes are, or a few less.
  std::size_t period() const { return period_; }

  // Element j < period() of `rank`'s input, as bits of the type. Data movement: rank is ignored
  // (ranks differ by phase).
  std::uint64_t bits(int rank, std::size_t j) const;

  // The reduction over all ranks but `without` (-1: over all), as bits of the type. O(ranks). Wide
  // and special data: one of the right results, that of adding rank after rank.
  std::uint64_t reduced(std::size_t j, int without = -1) const;

  // The sum over all ranks, undivided, modulo 2^64: what shows_loss needs for an average of
  // integers; 0 elsewhere. O(ranks).
  std::uint64_t total(std::size_t j) const;

  // Does leaving out `rank` change the result of element j? `total`: total(j).
  bool shows_loss(int rank, std::size_t j, std::uint64_t total) const;

  // As below, for these inputs.
  int tolerance() const;

  // Returns false if results of this combination say nothing, as int8 avg of 200 ranks (always 0).
  bool verifiable() const;

 private:
  double float_value(int rank, std::size_t j) const;
  template <class T>
  double wide_value(int rank, std::size_t j) const;
  template <class T>
  std::uint64_t special_bits(int rank, std::size_t j) const;
  template <class T>
  T bounded_value(int rank, std::size_t j) const;
  template <class U>
  U bitwise_share(int rank, std::size_t j) const;
  template <class T>
  T integer_value(int rank, std::size_t j) const;
  template <class T>
  std::uint64_t reduced_as(std::size_t j, int without) const;
  template <class T>
  bool shows_loss_as(int rank, std::size_t j, std::uint64_t total) const;
  std::uint64_t hash(std::size_t j, std::uint64_t salt) const;
  int turn(int rank, std::size_t j, std::size_t step) const;

  DataType type_;
  std::optional<ReduceOp> op_;
  int ranks_;
  std::uint64_t seed_;
  bool integers_wrap_;
  std::uint64_t largest_;
  std::uint64_t first_turn_;
  DataKind kind_;
  std::size_t period_;
};

// Returns the number of elements of the period at which a reduction's rows may start: at least one
// turn of all ranks is left before the period wraps, because the wrap breaks the order of turns.
std::size_t first_phases(const Inputs& inputs);

// Returns the share of ranks whose missing contribution shows in elements [start, start + count) of
// the period; 1 for data movement.
double coverage(const Inputs& inputs, std::size_t start, std::size_t count);

}  // namespace ccl_tests::verify
