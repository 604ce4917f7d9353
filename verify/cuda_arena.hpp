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

// Errors of the CUDA runtime, for the verifier.

// Throws Error, and forgets the error: the next call is not to blame.
inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  throw Error(std::string(what) + ": " + cudaGetErrorString(status));
}

// cudaMalloc and cudaFree wait for the device, and for every device that can reach its memory: between rows
// a rank that calls them would wait for peers whose operations wait for this rank. So they are called at the
// beginning and at the end alone; a piece that finds no room is memory of its own, which stays until the end,
// too. Used by one thread.
class CudaArena {
 public:
  // Takes memory of the calling thread's device. Throws Error.
  explicit CudaArena(std::size_t bytes);

  // Gives its memory back to the arena, which must outlive it.
  class Piece {
   public:
    Piece() = default;
    Piece(CudaArena& arena, std::size_t bytes) : arena_(&arena), data_(arena.take(bytes)) {}
    Piece(Piece&& other) noexcept;
    Piece& operator=(Piece&& other) noexcept;
    ~Piece();
    template <class T>
    T* as() const {
      return static_cast<T*>(data_);
    }

   private:
    CudaArena* arena_ = nullptr;
    void* data_ = nullptr;
  };

 private:
  struct Free {
    void operator()(std::byte* memory) const;
  };
  using Memory = std::unique_ptr<std::byte, Free>;

  Memory allocate(std::size_t bytes) const;
  void* take(std::size_t bytes);
  void give_back(void* piece);
  bool begins_memory(const std::byte* at) const;

  std::vector<Memory> memory_;
  std::map<std::byte*, std::size_t> free_, taken_;  // pieces by address, bytes
};

}  // namespace ccl_tests::verify
