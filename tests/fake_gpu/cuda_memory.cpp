#include "tests/fake_gpu/cuda_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace fake_gpu {
namespace {

constexpr std::size_t granularity = 512;
constexpr std::size_t page = 4096;
constexpr std::size_t huge_page = 2 << 20;

std::size_t rounded(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

std::byte* map_host(std::size_t bytes) {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return at == MAP_FAILED ? nullptr : static_cast<std::byte*>(at);
}

}  // namespace

Memory::Memory(int devices, std::size_t bytes_each)
    : bytes_each_(bytes_each), used_(static_cast<std::size_t>(devices)) {}

// Device memory lies side by side in addresses that are reserved once, and none of them is used twice: one call opens or closes all
// of it, by pages of 2 MiB, which takes a hundredth of the time of small ones.
std::byte* Memory::map_device(std::size_t bytes) {
  const std::size_t unit = bytes >= huge_page ? huge_page : page;
  if (rounded(next_, unit) + bytes > reserved_) {
    const std::size_t space = std::max(std::size_t{1} << 36, rounded(bytes, huge_page)) + huge_page;
    void* const at =
        mmap(nullptr, space, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) return nullptr;
    reserved_ = reinterpret_cast<std::uintptr_t>(at) + space;
    next_ = rounded(reinterpret_cast<std::uintptr_t>(at), huge_page);
  }
  const std::uintptr_t at = rounded(next_, unit);
  // Behind memory that was given back, another extent begins.
  const auto after = extents_.upper_bound(next_);
  const bool goes_on = after != extents_.begin() && std::prev(after)->second == next_;
  (goes_on ? std::prev(after)->second : extents_[at]) = at + bytes;
  // Advised here, so that what closes is not one with what is reserved, and apart again as it opens.
  const std::uintptr_t first = next_ / huge_page * huge_page;
  madvise(reinterpret_cast<void*>(first), rounded(at + bytes, huge_page) - first, MADV_HUGEPAGE);
  next_ = at + bytes;
  return reinterpret_cast<std::byte*>(at);
}

void Memory::unmap_device(const Allocation& gone) {
  const auto begin = reinterpret_cast<std::uintptr_t>(gone.base);
  const std::uintptr_t end = begin + gone.mapped;
  const auto holds = std::prev(extents_.upper_bound(begin));
  const std::uintptr_t extent_end = std::exchange(holds->second, begin);
  if (end < extent_end) extents_[end] = extent_end;
  madvise(gone.base, gone.mapped, MADV_DONTNEED);
  mprotect(gone.base, gone.mapped, PROT_NONE);
}

std::byte* Memory::allocate(int device, std::size_t bytes, bool host) {
  const std::lock_guard lock(mutex_);
  std::size_t& used = used_.at(static_cast<std::size_t>(device));
  if (bytes > SIZE_MAX - page) return nullptr;
  if (!host && rounded(bytes, granularity) > bytes_each_ - used) return nullptr;
  const std::size_t mapped = rounded(bytes, page);
  auto* const base = host ? map_host(mapped) : map_device(mapped);
  if (base == nullptr) return nullptr;
  if (!host) {
    used += rounded(bytes, granularity);
    protect(PROT_READ | PROT_WRITE);
  }
  std::memset(base, 0xcd, mapped);
  if (!host && !open_) protect(PROT_NONE);
  allocations_.emplace(reinterpret_cast<std::uintptr_t>(base),
                       Allocation{base, bytes, mapped, device, host});
  return base;
}

bool Memory::release(const void* base, bool host) {
  const std::lock_guard lock(mutex_);
  const auto at = allocations_.find(reinterpret_cast<std::uintptr_t>(base));
  if (at == allocations_.end() || at->second.host != host) return false;
  const Allocation& gone = at->second;
  if (host) {
    munmap(gone.base, gone.mapped);
  } else {
    used_.at(static_cast<std::size_t>(gone.device)) -= rounded(gone.bytes, granularity);
    unmap_device(gone);
  }
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
  ++users_;
  if (!std::exchange(open_, true)) protect(PROT_READ | PROT_WRITE);
}

void Memory::end_use() {
  const std::lock_guard lock(mutex_);
  --users_;
}

void Memory::close_unused() {
  const std::lock_guard lock(mutex_);
  if (users_ == 0 && std::exchange(open_, false)) protect(PROT_NONE);
}

void Memory::protect(int protection) const {
  for (const auto& [begin, end] : extents_) {
    // The whole last page, so that it is a large one.
    const std::uintptr_t to = end == next_ ? rounded(end, huge_page) : end;
    if (begin < to) mprotect(reinterpret_cast<void*>(begin), to - begin, protection);
  }
}

}  // namespace fake_gpu
