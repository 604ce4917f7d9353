// Verifiers of all ranks of a small job.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "verify/verifier.hpp"

namespace ccl_tests::verify {

struct VerifyWorld {
  VerifyWorld(DataType type, std::optional<ReduceOp> op, int ranks)
      : width(size_of(type)), pattern(std::make_shared<const Pattern>(type, op, ranks, 1)) {
    for (int r = 0; r < ranks; ++r) verifiers.emplace_back(pattern, r);
  }

  const Verifier& rank(int r) const { return verifiers[static_cast<std::size_t>(r)]; }

  // Rank `rank`'s input of `count` elements in `slot`.
  std::vector<std::byte> input(int of, std::size_t count, std::size_t slot) const {
    std::vector<std::byte> data(count * width);
    rank(of).fill_input(data.data(), count, slot);
    return data;
  }

  // The reduction of all ranks' inputs but `without`, element by element.
  std::vector<std::byte> reduced(std::size_t count, std::size_t slot, int without = -1) const {
    std::vector<std::byte> data(count * width);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t j = (i + pattern->phase(0, slot)) % pattern->inputs().period();
      const std::uint64_t bits = pattern->inputs().reduced(j, without);
      std::memcpy(data.data() + i * width, &bits, width);
    }
    return data;
  }

  std::size_t width;
  std::shared_ptr<const Pattern> pattern;
  std::vector<Verifier> verifiers;
};

}  // namespace ccl_tests::verify
