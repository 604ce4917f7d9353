// Inputs whose reduction is rounded, so that its bits show in which order a library combined the ranks'
// data, how far two results are apart, and
// short numbers that stand for results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "src/core/types.hpp"

namespace ccl_tests::verify {

// Values depend on the members, the contributor and the index alone: they are the same in every run
// and on every machine.
struct OrderSensitive {
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;
  int ranks = 1;
  bool integers_wrap = true;  // else no partial sum or product leaves the type's range
  std::uint64_t seed = 1;

  // Writes elements [first, first + n) of `contributor`, n as many as `data` holds. Floating-point
  // values have random signs and significands and one of four exponents, small enough for sums and
  // products of 200 ranks.
  void fill(std::span<std::byte> data, int contributor, std::size_t first) const;
};

// Ways to exchange the ranks' data so that every order of additions that libraries use changes in one of them: chains, and
// trees of any pairs. All are permutations.
enum class Exchange { none, rotated, swapped, shuffled };

// Returns whose data `rank` of `ranks` contributes: its own, those of the next rank, those of rank 2 if it is 1 (and the
// other way round), those of a rank that depends on the number of ranks alone.
int contributor(Exchange exchange, int rank, int ranks);

// Returns the distance of two elements: in units in the last place, of integers their difference.
std::uint64_t distance(DataType type, const std::byte* a, const std::byte* b);

// Returns "-1.25 (0xbfa00000)".
std::string element_text(DataType type, const std::byte* element);

// Returns XXH3 (64 bits) of the bytes. before: the digest of what stands before them, on which the
// result depends, too.
std::uint64_t digest(std::span<const std::byte> bytes, std::uint64_t before = 0);

std::string digest_text(std::uint64_t digest);  // 16 hexadecimal digits

}  // namespace ccl_tests::verify
