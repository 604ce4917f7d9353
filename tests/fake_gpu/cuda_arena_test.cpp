// Pieces of device memory: never two at one place, and joined again when they come back.
#include "verify/cuda_arena.hpp"

#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <utility>
#include <vector>

namespace ccl_tests::verify {
namespace {

std::size_t available() {
  std::size_t free = 0, total = 0;
  EXPECT_EQ(cudaMemGetInfo(&free, &total), cudaSuccess);
  return free;
}

TEST(CudaArena, TakesItsMemoryOnce) {
  CudaArena arena(1 << 20);
  const std::size_t before = available();
  for (int turn = 0; turn < 3; ++turn) {
    std::vector<CudaArena::Piece> pieces;
    for (int k = 0; k < 4; ++k) pieces.push_back(arena.take(200'000));
    for (std::size_t a = 0; a < pieces.size(); ++a)
      for (std::size_t b = 0; b < a; ++b)
        EXPECT_GE(std::abs(pieces[a].get() - pieces[b].get()), 200'000);
    if (turn == 1) std::swap(pieces[0], pieces[3]);
    pieces.erase(pieces.begin() + 1);
    pieces.push_back(arena.take(150'000));
  }
  const CudaArena::Piece all = arena.take(1 << 20);
  EXPECT_EQ(available(), before);
}

TEST(CudaArena, KeepsMoreMemoryUntilItsEnd) {
  const std::size_t before = available();
  {
    CudaArena arena(4096);
    const CudaArena::Piece first = arena.take(4000);
    std::size_t with_two = 0;
    {
      const CudaArena::Piece second = arena.take(4000);
      EXPECT_NE(first.get(), second.get());
      with_two = available();
      EXPECT_EQ(before - with_two, 2 * 4096U);
    }
    const CudaArena::Piece third = arena.take(4000);
    EXPECT_EQ(available(), with_two);
  }
  EXPECT_EQ(available(), before);
}

}  // namespace
}  // namespace ccl_tests::verify
