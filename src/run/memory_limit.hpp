// Which sizes fit into memory, decided before anything is allocated.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "src/core/collective.hpp"
#include "src/options/options.hpp"

namespace ccl_tests {

struct SizePlan {
  std::vector<std::size_t> sizes;
  std::optional<std::size_t> reduced_max;  // when sizes had to be left out
};

// Bytes that one of a rank's two buffers may have on a machine with `available` bytes and `ranks`
// ranks, where the library takes up to `scratch` buffers' worth per rank. A tenth of the memory,
// but at most 2 GiB, stays free.
std::size_t buffer_limit(std::size_t available, std::size_t ranks, double scratch);

// The sweep's sizes whose buffers stay within `limit` bytes. Throws Unsupported when none does.
SizePlan limit_sizes(const Collective& collective, const Options& options, int ranks,
                     std::size_t limit);

}  // namespace ccl_tests
