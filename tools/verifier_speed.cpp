#include "tools/verifier_speed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "src/core/clock.hpp"
#include "src/core/error.hpp"
#include "src/measure/statistics.hpp"
#include "verify/verifier.hpp"

namespace ccl_tests::tools {
double Speed::rate(const std::vector<double>& seconds) const {
  return static_cast<double>(bytes) / median(seconds);
}

std::size_t affordable(std::size_t wanted, const Device& device) {
  const std::size_t each = device.available() / 100 * 45;
  return std::max<std::size_t>(std::min(wanted, each) / 256 * 256, 256);
}

SpeedCheck::SpeedCheck(Device& device, verify::Loops& loops, const SpeedOptions& options)
    : device_(device), loops_(loops), options_(options) {
  options_.bytes = affordable(options.bytes, device);
  data_ = device.allocate(options_.bytes);
  other_ = device.allocate(options_.bytes);
}

Speed SpeedCheck::measure(DataType type, std::optional<ReduceOp> op) {
  constexpr int ranks = 1;  // the reduction over one rank is its input
  const auto pattern = std::make_shared<const verify::Pattern>(type, op, ranks, options_.seed);
  const verify::Verifier verifier(pattern, 0, loops_);
  const std::size_t count = options_.bytes / size_of(type);
  const ExpectedBlock segment = {.count = count, .source_rank = op ? ExpectedBlock::all_ranks : 0};
  Speed speed{.bytes = options_.bytes};
  verify::Mismatch found;
  for (int repetition = -1; repetition < options_.repetitions; ++repetition) {
    const auto time = [&](std::vector<double>& seconds, auto&& what) {
      const double start = monotonic_seconds();
      what();
      // The first calls load kernels and touch memory.
      if (repetition >= 0) seconds.push_back(monotonic_seconds() - start);
    };
    time(speed.copy_s, [&] { device_.copy(other_.data(), data_.data(), options_.bytes); });
    time(speed.set_s, [&] { loops_.set(data_.data(), std::byte{0}, options_.bytes); });
    time(speed.constant_s,
         [&] { loops_.fill_constant(data_.data(), std::byte{0}, options_.bytes); });
    time(speed.fill_s, [&] { verifier.fill_input(data_.data(), count, 0); });
    time(speed.compare_s, [&] { found = verifier.compare(data_.data(), {&segment, 1}, 0); });
    if (found.wrong != 0)
      throw Error(fmt::format("{} {}: what was filled is found wrong: {} elements, {} to {}, {}",
                              name(type), op ? name(*op) : "none", found.wrong, found.first,
                              found.last, found.explanation),
                  Exit::wrong_data);
  }
  return speed;
}

}  // namespace ccl_tests::tools
