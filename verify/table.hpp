// A periodic pattern in memory: one period of elements, repeated until copying and comparing run at
// memory speed.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace ccl_tests::verify {

class Table {
 public:
  Table() = default;
  // `period`: one period, a multiple of `width` bytes.
  Table(std::span<const std::byte> period, std::size_t width);

  std::size_t period() const { return period_; }       // elements
  std::size_t width() const { return width_; }         // bytes of an element
  std::size_t bytes() const { return bytes_.size(); }  // of memory
  // Element (index mod period); elements [index, index + period) need no wrap when index < period.
  const std::byte* at(std::size_t index) const {
    return bytes_.data() + (index % period_) * width_;
  }

  // out[i] = table[(first + i) mod period] for i < count.
  void copy_to(std::byte* out, std::size_t count, std::size_t first) const;

  // Index of the first i < count with data[i] != table[(first + i) mod period], bit for bit.
  std::optional<std::size_t> first_difference(const std::byte* data, std::size_t count,
                                              std::size_t first) const;

 private:
  std::size_t period_ = 0, width_ = 0;
  std::vector<std::byte> bytes_;
};

}  // namespace ccl_tests::verify
