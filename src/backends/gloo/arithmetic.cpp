#include "src/backends/gloo/arithmetic.hpp"

#include <fmt/format.h>
#include <gloo/math.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"

namespace ccl_tests::gloo_module {
namespace {

struct OfType {
  DataType type;
  Reduce from;                       // the first choice that takes these functions
  std::array<Combine, 4> functions;  // in the order of ReduceOp
};

template <class T>
constexpr OfType of(DataType type, Reduce from = Reduce::torch) {
  return {type, from, {&gloo::sum<T>, &gloo::product<T>, &gloo::max<T>, &gloo::min<T>}};
}

// torch.distributed brings its own functions for float16 and has no uint32.
constexpr std::array gloos = {
    of<std::int8_t>(DataType::int8),
    of<std::uint8_t>(DataType::uint8),
    of<std::int32_t>(DataType::int32),
    of<std::uint32_t>(DataType::uint32, Reduce::gloo),
    of<std::int64_t>(DataType::int64),
    of<std::uint64_t>(DataType::uint64),
    of<float>(DataType::float32),
    of<double>(DataType::float64),
    of<gloo::float16>(DataType::half, Reduce::gloo),
};

// Returns null if `reduce` takes none of Gloo's.
Combine gloo_function(Reduce reduce, DataType type, ReduceOp op) {
  const auto found =
      std::find_if(gloos.begin(), gloos.end(), [&](const OfType& one) { return one.type == type; });
  const auto index = static_cast<std::size_t>(op);
  if (reduce == Reduce::suite || found == gloos.end() || found->from > reduce) return nullptr;
  return index < found->functions.size() ? found->functions[index] : nullptr;
}

}  // namespace

Reduce reduce_choice(const BackendOptions& options) {
  const auto value = options.get(reduce_key);
  if (!value) return Reduce::torch;
  if (*value == "gloo") return Reduce::gloo;
  if (*value == "suite") return Reduce::suite;
  throw UsageError(fmt::format("--backend-option {}: {} is not accepted; accepted: gloo, suite",
                               reduce_key, quote(*value)));
}

Combine combine_function(Reduce reduce, DataType type, ReduceOp op) {
  const Combine own = gloo_function(reduce, type, op);
  return own != nullptr ? own : ccl_tests::combine_function(type, op);
}

std::vector<TypesAndOps> combined_by_suite(Reduce reduce) {
  std::vector<TypesAndOps> rules;
  for (const DataType type : all_types())
    for (const ReduceOp op : ops_of(type))
      if (gloo_function(reduce, type, op) == nullptr) rules.push_back({type, op, {}});
  return rules;
}

}  // namespace ccl_tests::gloo_module
