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

// Device memory lies side by side in addresses that are reserved once, so that one call opens or closes all of it, and no address is
// used twice. Large memory begins with a page of 2 MiB, a hundredth of the work of small ones.
std::byte* Memory::map_device(std::size_t bytes) {
  const std::size_t unit = bytes >= huge_page ? huge_page : page;
  const std::size_t before = rounded(next_, unit) - next_;
  if (before > end_ - next_ || bytes > end_ - next_ - before) {
    const std::size_t reserved =
        std::max(std::size_t{1} << 36, rounded(bytes, huge_page) + huge_page);
    void* const space =
        mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED) return nullptr;
    madvise(space, reserved, MADV_HUGEPAGE);
    next_ = reinterpret_cast<std::uintptr_t>(space);
    end_ = next_ + reserved;
  }
  const std::uintptr_t at = rounded(next_, unit);
  next_ = at + bytes;
  auto* const memory = reinterpret_cast<std::byte*>(at);
  return mprotect(memory, bytes, PROT_READ | PROT_WRITE) == 0 ? memory : nullptr;
}

std::byte* Memory::allocate(int device, std::size_t bytes, bool host) {
  const std::lock_guard lock(mutex_);
  std::size_t& used = used_.at(static_cast<std::size_t>(device));
  if (bytes > SIZE_MAX - page) return nullptr;
  if (!host && rounded(bytes, granularity) > bytes_each_ - used) return nullptr;
  const std::size_t mapped = rounded(bytes, page);
  auto* const base = host ? map_host(mapped) : map_device(mapped);
  if (base == nullptr) return nullptr;
  std::memset(base, 0xcd, mapped);
  if (!host) {
    used += rounded(bytes, granularity);
    if (!open_) mprotect(base, mapped, PROT_NONE);
  }
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
    madvise(gone.base, gone.mapped, MADV_DONTNEED);
    mprotect(gone.base, gone.mapped, PROT_NONE);
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
  std::byte* begin = nullptr;
  std::byte* end = nullptr;  // of neighbours
  for (const auto& [base, allocation] : allocations_) {
    if (allocation.host) continue;
    if (allocation.base != end) {
      if (begin != end) mprotect(begin, static_cast<std::size_t>(end - begin), protection);
      begin = allocation.base;
    }
    end = allocation.base + allocation.mapped;
  }
  if (begin != end) mprotect(begin, static_cast<std::size_t>(end - begin), protection);
}

}  // namespace fake_gpu
