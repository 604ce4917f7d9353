// Reductions by their definition, one element at a time in rank order, rounded to the type after
// every step.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "src/core/types.hpp"

namespace ccl_tests::textbook {

// out[k] = reduction over ranks of inputs[rank][first + k], k < count; inputs hold elements of
// `type`.
void reduce(std::byte* out, std::span<const std::string> inputs, std::size_t first,
            std::size_t count, DataType type, ReduceOp op);

}  // namespace ccl_tests::textbook
