// Gloo's collectives see elements only by their width.
#pragma once

#include <cstdint>

#include "src/backends/gloo/errors.hpp"
#include "src/core/communicator.hpp"

namespace ccl_tests::gloo_module {

template <class U>
U* elements(const void* p) {
  return static_cast<U*>(const_cast<void*>(p));
}

// f.operator()<U>() with an unsigned integer as wide as the call's elements; Gloo's exceptions come
// out as ours.
template <class F>
void by_width(const Call& call, F&& f) {
  translated([&] {
    switch (size_of(call.type)) {
      case 1: return f.template operator()<std::uint8_t>();
      case 2: return f.template operator()<std::uint16_t>();
      case 4: return f.template operator()<std::uint32_t>();
      default: return f.template operator()<std::uint64_t>();
    }
  });
}

}  // namespace ccl_tests::gloo_module
