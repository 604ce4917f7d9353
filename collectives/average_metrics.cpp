// average_metrics_perf: a dictionary of numbers is replaced by their weighted means over all ranks.
// float elements are the numbers.
#include <fmt/format.h>

#include <map>
#include <string>

#include "collectives/collectives.hpp"
#include "collectives/composites.hpp"

namespace ccl_tests::collectives {
namespace {

constexpr std::array<DataType, 1> types = {DataType::float32};

// Bytes that one number takes beside its float: a node of the map, and its named value while the
// ranks' names are compared.
constexpr std::size_t entry_bytes = 512;

// Returns a rank's weight. Of every three ranks two count once and one counts four times; the ranks
// left over count twice. All weights are powers of two and sum to 2 n. So the weighted mean of
// 2 / weight times the values is exactly the average of the values.
double weight(const GroupRank& self) {
  if (self.rank >= self.ranks / 3 * 3) return 2;
  return self.rank % 3 == 2 ? 4 : 1;
}

class AverageMetrics : public OnGroup {
 public:
  AverageMetrics(ControlChannel& channel, Communicator& communicator, const Shape& shape,
                 DataType /*type*/)
      : OnGroup(channel, communicator), weight_(weight(shape.self)) {
    for (std::size_t i = 0; i < shape.count; ++i) metrics_[fmt::format("metric {:08}", i)] = 0;
  }
  void check() override { primitives::check_metrics(group(), metrics_); }
  void run(const Call& call) override {
    {
      primitives::StepClock clock = group().step_clock();
      const auto* from = static_cast<const float*>(call.send);
      for (auto& [name, value] : metrics_) value = 2 / weight_ * static_cast<double>(*from++);
      clock.packing();
    }
    primitives::average_metrics(group(), metrics_, weight_);
    primitives::StepClock clock = group().step_clock();
    auto* to = static_cast<float*>(call.recv);
    for (const auto& [name, value] : metrics_) *to++ = static_cast<float>(value);
    clock.packing();
  }

 private:
  double weight_;
  std::map<std::string, double> metrics_;
};

}  // namespace

const Collective average_metrics = {
    .name = "average_metrics",
    .about = "numbers become their weighted means",
    .domain = {.reduces = true, .ops = average_only, .types = types},
    .layout = whole_replaced,
    .expected = whole_reduced,
    .bus_factor = reduced_and_gathered,
    .scratch = [](const Shape& s) { return s.count * entry_bytes; },
    .make = compose<AverageMetrics>,
    .needs = composite,
};

}  // namespace ccl_tests::collectives
