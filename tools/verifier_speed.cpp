#include "tools/verifier_speed.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "src/core/clock.hpp"
#include "src/core/error.hpp"
#include "verify/verifier.hpp"

namespace ccl_tests::tools {
namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

template <class F>
double seconds_of(const F& what) {
  const double start = monotonic_seconds();
  what();
  return monotonic_seconds() - start;
}

}  // namespace

double Speed::copy_rate() const { return 2 * static_cast<double>(bytes) / median(copy_s); }
double Speed::set_rate() const { return static_cast<double>(bytes) / median(set_s); }
double Speed::constant_rate() const { return static_cast<double>(bytes) / median(constant_s); }
double Speed::fill_rate() const { return static_cast<double>(bytes) / median(fill_s); }
double Speed::compare_rate() const { return static_cast<double>(bytes) / median(compare_s); }

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
  Speed speed{type, op, options_.bytes, {}, {}, {}, {}, {}};
  for (int repetition = -1; repetition < options_.repetitions; ++repetition) {
    const double copied =
        seconds_of([&] { device_.copy(other_.data(), data_.data(), options_.bytes); });
    const double set = seconds_of([&] { loops_.set(data_.data(), std::byte{0}, options_.bytes); });
    const double constant =
        seconds_of([&] { loops_.fill_constant(data_.data(), std::byte{0}, options_.bytes); });
    const double filled = seconds_of([&] { verifier.fill_input(data_.data(), count, 0); });
    verify::Mismatch found;
    const double compared = seconds_of([&] {
      found = verifier.compare(data_.data(), {&segment, 1}, 0);
    });
    if (found.wrong != 0)
      throw Error(fmt::format("{} {}: what was filled is found wrong: {} elements, {} to {}, {}",
                              name(type), op ? name(*op) : "none", found.wrong, found.first,
                              found.last, found.explanation),
                  Exit::wrong_data);
    if (repetition < 0) continue;  // the first calls load kernels and touch memory
    speed.copy_s.push_back(copied);
    speed.set_s.push_back(set);
    speed.constant_s.push_back(constant);
    speed.fill_s.push_back(filled);
    speed.compare_s.push_back(compared);
  }
  return speed;
}

}  // namespace ccl_tests::tools
