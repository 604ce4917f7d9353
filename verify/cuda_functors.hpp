// The work of one thread of a GPU when the verifier fills or compares. Plain C++, so that the tests
// run it on the host too.
//
// A table of a prime period P, read from any element on, repeats after P vectors of 16 bytes: a
// vector has 1 to 16 elements, a power of two, which has no common factor with P. So a table is
// kept as those P vectors, and a thread that goes on by a multiple of P vectors needs the same
// vector of the table at each place: it reads that vector once, and then stores or loads data only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <cuda/atomic>

#include "verify/width.hpp"

namespace ccl_tests::verify::cuda {

struct alignas(16) Vector {
  std::uint64_t low, high;
};
static_assert(sizeof(Vector) == 16);

CCL_HD inline bool same(const Vector& a, const Vector& b) {
  return ((a.low ^ b.low) | (a.high ^ b.high)) == 0;
}

// As verify::Difference, for all threads.
struct Found {
  unsigned long long wrong, first, last;  // first: ~0 where nothing is wrong
};

// The findings of one thread, added to all threads' at its end.
struct Finding {
  unsigned long long wrong = 0, first = ~0ULL, last = 0;

  CCL_HD void note(std::uint64_t element) {
    ++wrong;
    first = element < first ? element : first;
    last = element > last ? element : last;
  }
  CCL_HD void add_to(Found* found) const {
    if (wrong == 0) return;
    using Atomic = ::cuda::atomic_ref<unsigned long long, ::cuda::thread_scope_device>;
    Atomic(found->wrong).fetch_add(wrong, ::cuda::memory_order_relaxed);
    Atomic(found->first).fetch_min(first, ::cuda::memory_order_relaxed);
    Atomic(found->last).fetch_max(last, ::cuda::memory_order_relaxed);
  }
};

// Stores a vector that this kernel does not read: caches should keep other data before it.
CCL_HD inline void store_streaming(Vector* to, const Vector& value) {
#ifdef __CUDA_ARCH__
  __stcs(reinterpret_cast<ulonglong2*>(to), ulonglong2{value.low, value.high});
#else
  *to = value;
#endif
}

// Fills `vectors` vectors at `data`, which begin at a line. The data are filled piece by piece, in order:
//
//   piece 0                                piece 1
//   | lanes | lanes | .. (`stores` times)  | lanes | lanes | ..
//
// Each piece has `lanes` threads. A thread stores one vector into each part of its piece: `stores`
// stores that do not wait for each other. A thread ends after its piece, so the threads that run at
// a time write memory that lies close together. A part has whole lines, so each warp stores whole
// lines.
struct FillVectors {
  static constexpr std::size_t line = 128;  // bytes, of the L2 cache
  static constexpr int stores = 4;          // of a thread

  Vector* data;
  const Vector* table;
  std::uint64_t vectors;
  std::uint32_t period, start;  // start: vector of the table at which the data begin

  // A multiple of the period and of a line's vectors, which have no common factor.
  CCL_HD std::uint32_t lanes() const {
    return period * static_cast<std::uint32_t>(line / sizeof(Vector));
  }
  // The last piece needs no more threads than it has vectors.
  std::uint64_t threads() const {
    const std::uint64_t piece = std::uint64_t{stores} * lanes();
    const std::uint64_t rest = vectors % piece;
    return vectors / piece * lanes() + (rest < lanes() ? rest : lanes());
  }

  CCL_HD void operator()(std::uint64_t thread) const {
    const std::uint64_t piece = thread / lanes();
    const auto lane = static_cast<std::uint32_t>(thread - piece * lanes());
    const Vector value = table[(start + lane) % period];
    std::uint64_t i = piece * stores * lanes() + lane;
    for (int k = 0; k < stores; ++k, i += lanes())
      if (i < vectors) store_streaming(data + i, value);
  }
};

// The least that a kernel can do to write memory: one store a thread. FillVectors is held to its
// speed.
struct FillConstant {
  Vector* data;
  Vector value;

  CCL_HD void operator()(std::uint64_t i) const { data[i] = value; }
};

template <class U>
struct CompareVectors {
  const Vector* data;
  const Vector* table;
  std::uint64_t vectors, lanes;  // thread `lane` compares every lanes-th; a multiple of `period`
  std::uint32_t period, start;   // start: vector of the table at which the data begin
  std::uint64_t offset;          // element of the run at which the vectors begin
  std::uint64_t tolerance;
  Found* found;

  CCL_HD void operator()(std::uint64_t lane) const {
    constexpr int async_operations = 4;  // loads that a thread has under way
    const Vector expected = table[(start + lane) % period];
    Finding mine;
    std::uint64_t i = lane;
    for (; i + (async_operations - 1) * lanes < vectors; i += async_operations * lanes) {
      Vector value[async_operations];
      for (int k = 0; k < async_operations; ++k) value[k] = data[i + k * lanes];
      for (int k = 0; k < async_operations; ++k)
        if (!same(value[k], expected)) look(value[k], expected, i + k * lanes, mine);
    }
    for (; i < vectors; i += lanes)
      if (!same(data[i], expected)) look(data[i], expected, i, mine);
    mine.add_to(found);
  }

 private:
  CCL_HD void look(const Vector& value, const Vector& expected, std::uint64_t vector,
                   Finding& mine) const {
    constexpr int elements = sizeof(Vector) / sizeof(U);
    U a[elements];
    U b[elements];
    std::memcpy(a, &value, sizeof a);
    std::memcpy(b, &expected, sizeof b);
    for (int e = 0; e < elements; ++e)
      if (ulp_distance(a[e], b[e]) > tolerance) mine.note(offset + vector * elements + e);
  }
};

// One element a thread: short data, the ends of those that do not begin or end with a vector, and
// strided runs. table: one period of elements.
template <class U>
struct FillElements {
  U* data;
  const U* table;
  std::uint64_t first;
  std::uint32_t period;

  CCL_HD void operator()(std::uint64_t i) const { data[i] = table[(first + i) % period]; }
};

template <class U>
struct CompareElements {
  const U* data;
  const U* table;
  std::uint64_t first, count, stride, table_stride;  // as in verify::StridedRange
  std::uint32_t period;
  std::uint64_t offset;  // element of the run at which the data begin
  std::uint64_t tolerance;
  Found* found;

  CCL_HD void operator()(std::uint64_t k) const {
    const std::uint64_t block = k / count;
    const std::uint64_t i = k % count;
    const std::uint64_t at = block * stride + i;
    const U expected = table[(first + block * table_stride + i) % period];
    if (ulp_distance(data[at], expected) <= tolerance) return;
    Finding mine;
    mine.note(offset + at);
    mine.add_to(found);
  }
};

}  // namespace ccl_tests::verify::cuda
