#include "tests/fake_gpu/cuda_memory.hpp"

#include <sys/mman.h>

#include <cstring>

namespace fake_gpu {
namespace {

constexpr std::size_t granularity = 512;
constexpr std::size_t page = 4096;

std::size_t rounded(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

// Of large memory the kernel opens and closes pages of 2 MiB, which takes a hundredth of the time. Null: none left.
void* map(std::size_t bytes) {
  constexpr std::size_t huge = 2 << 20;
  const std::size_t extra = bytes >= huge ? huge : 0;
  void* const all =
      mmap(nullptr, bytes + extra, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED) return nullptr;
  if (extra == 0) return all;
  const auto begin = reinterpret_cast<std::uintptr_t>(all);
  const std::size_t before = rounded(begin, huge) - begin;
  auto* const at = static_cast<std::byte*>(all) + before;
  if (before > 0) munmap(all, before);
  if (before < extra) munmap(at + bytes, extra - before);
  madvise(at, bytes, MADV_HUGEPAGE);
  return at;
}

}  // namespace

Memory::Memory(int devices, std::size_t bytes_each)
    : bytes_each_(bytes_each), used_(static_cast<std::size_t>(devices)) {}

std::byte* Memory::allocate(int device, std::size_t bytes, bool host) {
  const std::lock_guard lock(mutex_);
  std::size_t& used = used_.at(static_cast<std::size_t>(device));
  if (bytes > SIZE_MAX - page) return nullptr;
  if (!host && rounded(bytes, granularity) > bytes_each_ - used) return nullptr;
  const std::size_t mapped = rounded(bytes, page);
  void* const at = map(mapped);
  if (at == nullptr) return nullptr;
  std::memset(at, 0xcd, mapped);
  if (!host) {
    used += rounded(bytes, granularity);
    if (users_ == 0) mprotect(at, mapped, PROT_NONE);
  }
  auto* const base = static_cast<std::byte*>(at);
  allocations_.emplace(reinterpret_cast<std::uintptr_t>(base),
                       Allocation{base, bytes, mapped, device, host});
  return base;
}

bool Memory::release(const void* base, bool host) {
  const std::lock_guard lock(mutex_);
  const auto at = allocations_.find(reinterpret_cast<std::uintptr_t>(base));
  if (at == allocations_.end() || at->second.host != host) return false;
  const Allocation& gone = at->second;
  if (!host) {
    used_.at(static_cast<std::size_t>(gone.device)) -= rounded(gone.bytes, granularity);
  }
  munmap(gone.base, gone.mapped);
  allocations_.erase(at);
  return true;
}

void Memory::release_device(int device) {
  std::vector<Allocation> gone;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [base, allocation] : allocations_) {
      if (allocation.device == device) gone.push_back(allocation);
    }
  }
  for (const Allocation& allocation : gone) release(allocation.base, allocation.host);
}

std::optional<Allocation> Memory::find(const void* at) const {
  const std::lock_guard lock(mutex_);
  auto after = allocations_.upper_bound(reinterpret_cast<std::uintptr_t>(at));
  if (after == allocations_.begin()) return std::nullopt;
  const Allocation& found = std::prev(after)->second;
  const auto offset = reinterpret_cast<std::uintptr_t>(at) - std::prev(after)->first;
  if (offset >= found.bytes) return std::nullopt;
  return found;
}

std::size_t Memory::available(int device) const {
  const std::lock_guard lock(mutex_);
  return bytes_each_ - used_.at(static_cast<std::size_t>(device));
}

void Memory::begin_use() {
  const std::lock_guard lock(mutex_);
  if (users_++ == 0) protect(PROT_READ | PROT_WRITE);
}

void Memory::end_use() {
  const std::lock_guard lock(mutex_);
  if (--users_ == 0) protect(PROT_NONE);
}

void Memory::protect(int protection) const {
  for (const auto& [base, allocation] : allocations_) {
    if (!allocation.host) mprotect(allocation.base, allocation.mapped, protection);
  }
}

}  // namespace fake_gpu
