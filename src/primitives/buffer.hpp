// Memory that grows and is used again, so that calls of the same sizes do not allocate.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>

namespace ccl_tests::primitives {

// Uninitialised bytes, aligned for every type of the suite.
class Buffer {
 public:
  // At least `bytes`; never null. What was in it is lost when it grows.
  std::byte* room(std::size_t bytes) {
    if (bytes > capacity_ || !data_) {
      data_.reset();
      data_ = std::make_unique_for_overwrite<std::byte[]>(bytes > 0 ? bytes : 1);
      capacity_ = bytes;
    }
    return data_.get();
  }
  std::byte* data() { return data_.get(); }
  const std::byte* data() const { return data_.get(); }

 private:
  std::unique_ptr<std::byte[]> data_;
  std::size_t capacity_ = 0;
};

// A rank's buffers by name. One name is one buffer: its content lasts until the name is used again.
class Workspace {
 public:
  template <class T>
  std::span<T> room(std::string_view name, std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T>);
    return {reinterpret_cast<T*>(buffer(name).room(count * sizeof(T))), count};
  }

 private:
  Buffer& buffer(std::string_view name) {
    const auto found = buffers_.find(name);
    return found != buffers_.end() ? found->second : buffers_[std::string(name)];
  }
  std::map<std::string, Buffer, std::less<>> buffers_;
};

}  // namespace ccl_tests::primitives
