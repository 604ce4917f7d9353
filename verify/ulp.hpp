// The distance between two values of a floating-point type, by their bits; on the host and on a
// GPU.
#pragma once

#include <cstdint>

#ifdef __CUDACC__
#define CCL_HD __host__ __device__
#else
#define CCL_HD
#endif

namespace ccl_tests::verify {

// In units in the last place, between two finite or infinite values; U: unsigned, of their width.
template <class U>
CCL_HD constexpr std::uint64_t ulp_distance(U a, U b) {
  constexpr U sign = static_cast<U>(U{1} << (8 * sizeof(U) - 1));
  const U oa = static_cast<U>((a & sign) != 0 ? ~a : a | sign);
  const U ob = static_cast<U>((b & sign) != 0 ? ~b : b | sign);
  return oa > ob ? static_cast<U>(oa - ob) : static_cast<U>(ob - oa);
}

}  // namespace ccl_tests::verify
