// Memory of one device that is taken once and handed out in pieces.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "src/core/error.hpp"

namespace ccl_tests::verify {

// Throws Error if a call of the CUDA runtime failed, and forgets the error: the next call is not to
// blame.
inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  throw Error(std::string(what) + ": " + cudaGetErrorString(status));
}

// Memory that is taken at the beginning and freed at the end alone: cudaMalloc and cudaFree wait
// for every device that can reach the memory, whose operations may wait for this rank. A piece that
// finds no room is memory of its own, which stays until the end, too. Used by one thread.
class CudaArena {
 public:
  // Takes memory of the calling thread's device. Throws Error.
  explicit CudaArena(std::size_t bytes);

  struct GiveBack {
    void operator()(std::byte* piece) const { arena->give_back(piece); }
    CudaArena* arena = nullptr;
  };
  // Gives its memory back to the arena, which must outlive it.
  using Piece = std::unique_ptr<std::byte, GiveBack>;

  Piece take(std::size_t bytes);

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  using Memory = std::unique_ptr<std::byte, Free>;

  Memory allocate(std::size_t bytes) const;
  void give_back(std::byte* piece);
  bool begins_memory(const std::byte* at) const;

  std::vector<Memory> memory_;
  std::map<std::byte*, std::size_t> free_, taken_;  // pieces by address, bytes
};

}  // namespace ccl_tests::verify
