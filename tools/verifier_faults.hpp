// Rows of elements, and the faults in them that a verifier has to find.
#pragma once

#include <cstddef>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "src/core/device.hpp"
#include "verify/verifier.hpp"

namespace ccl_tests::tools {

// Bytes that replace those of a row from `begin` on, counted from the row's first byte; negative in
// the guard zone before it.
struct Patch {
  std::ptrdiff_t begin;
  std::vector<std::byte> bytes;
};

// A row of elements twice, in the host's memory and in a device's, each with guard zones.
class MirroredRow {
 public:
  // Rows of up to `capacity` bytes, shifted by up to `shift`.
  MirroredRow(Device& device, std::size_t capacity, std::size_t shift)
      : device_(device),
        memory_(device.allocate(2 * verify::guard_bytes + capacity + shift)),
        host_(memory_.size()) {}

  // From here on the row has `bytes` bytes and begins `shift` bytes behind an aligned address. All
  // of the host's memory is `value`.
  void shape(std::size_t bytes, std::size_t shift, std::byte value) {
    bytes_ = bytes;
    start_ = verify::guard_bytes + shift;
    std::memset(host_.data(), static_cast<int>(value), start_ + bytes_ + verify::guard_bytes);
  }

  std::byte* host() { return host_.data() + start_; }
  std::byte* device() { return memory_.data() + start_; }

  // The row and both zones, from the host to the device.
  void upload() { device_.copy(memory_.data(), host_.data(), all()); }
  // Are row and zones on the device, byte by byte, what they are on the host?
  bool same() {
    fetched_.resize(all());
    device_.copy(fetched_.data(), memory_.data(), all());
    return std::memcmp(fetched_.data(), host_.data(), all()) == 0;
  }

  // Does `patch` change anything?
  bool changes(const Patch& patch) const {
    return std::memcmp(host_.data() + start_ + patch.begin, patch.bytes.data(),
                       patch.bytes.size()) != 0;
  }
  // Exchanges the patch's bytes with the row's, in both memories: a second call undoes the first.
  void exchange(Patch& patch) {
    std::byte* const at = host() + patch.begin;
    std::vector<std::byte> before(at, at + patch.bytes.size());
    std::memcpy(at, patch.bytes.data(), patch.bytes.size());
    device_.copy(device() + patch.begin, at, patch.bytes.size());
    patch.bytes = std::move(before);
  }

 private:
  std::size_t all() const { return start_ + bytes_ + verify::guard_bytes; }

  Device& device_;
  Buffer memory_;
  std::vector<std::byte> host_, fetched_;
  std::size_t bytes_ = 0, start_ = verify::guard_bytes;
};

struct Fault {
  std::string name;
  std::vector<Patch> patches;  // do not overlap
  // Wrong by more than averages may be off: found whatever the tolerance.
  bool gross = false;
};

// A row of `count` elements of a pattern, as a call should have left it on rank 0: element i is
// element i of rank 1's input, or of the reduction.
struct RightRow {
  const verify::Pattern& pattern;
  const std::byte* data;
  std::size_t count, slot;
  std::size_t shift;  // bytes from an aligned address to its first
};

// One period of the reduction without rank 2's contribution; empty for data movement.
verify::Table without_rank_2(const verify::Pattern& pattern);

// One bit of element `at` is the other one.
Patch flip(const RightRow& row, std::size_t at, std::size_t bit);
Fault flipped(const RightRow& row, std::size_t at, std::size_t bit);

// Faults of every kind that fit into the row. without: without_rank_2(row.pattern).
std::vector<Fault> faults_of(const RightRow& row, const verify::Table& without,
                             std::mt19937_64& random);

}  // namespace ccl_tests::tools
