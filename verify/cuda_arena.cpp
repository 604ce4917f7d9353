#include "verify/cuda_arena.hpp"

#include <algorithm>
#include <iterator>

namespace ccl_tests::verify {
namespace {

constexpr std::size_t aligned = 256;  // as cudaMalloc

}  // namespace

void CudaArena::Free::operator()(std::byte* memory) const { cudaFree(memory); }

CudaArena::CudaArena(std::size_t bytes) {
  memory_.push_back(allocate(bytes));
  free_[memory_.back().get()] = bytes;
}

CudaArena::Memory CudaArena::allocate(std::size_t bytes) const {
  void* data = nullptr;
  check(cudaMalloc(&data, bytes), "memory for verification");
  return Memory(static_cast<std::byte*>(data));
}

CudaArena::Piece CudaArena::take(std::size_t bytes) {
  const std::size_t wanted = std::max<std::size_t>(1, (bytes + aligned - 1) / aligned) * aligned;
  auto found = std::find_if(free_.begin(), free_.end(),
                            [&](const auto& piece) { return piece.second >= wanted; });
  if (found == free_.end()) {
    memory_.push_back(allocate(wanted));
    found = free_.emplace(memory_.back().get(), wanted).first;
  }
  const auto [data, size] = *found;
  free_.erase(found);
  if (size > wanted) free_[data + wanted] = size - wanted;
  taken_[data] = wanted;
  return Piece(data, {this});
}

bool CudaArena::begins_memory(const std::byte* at) const {
  return std::any_of(memory_.begin(), memory_.end(),
                     [&](const Memory& memory) { return memory.get() == at; });
}

// Joins the piece with its neighbours of the same memory.
void CudaArena::give_back(std::byte* piece) {
  const auto taken = taken_.find(piece);
  auto here = free_.emplace(taken->first, taken->second).first;
  taken_.erase(taken);
  const auto next = std::next(here);
  if (next != free_.end() && here->first + here->second == next->first &&
      !begins_memory(next->first)) {
    here->second += next->second;
    free_.erase(next);
  }
  if (here == free_.begin() || begins_memory(here->first)) return;
  const auto before = std::prev(here);
  if (before->first + before->second != here->first) return;
  before->second += here->second;
  free_.erase(here);
}

}  // namespace ccl_tests::verify
