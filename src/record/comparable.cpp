#include "src/record/comparable.hpp"

#include <fmt/format.h>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"

namespace ccl_tests {
namespace {

std::string kind_of_time(const RunInfo& run) {
  if (run.options.measure.samples) return "median of single samples (--samples)";
  return run.precision ? "median of a stream" : "mean of a batch (-n)";
}

}  // namespace

void check_same(const char* field, const std::string& in_base, const std::string& base,
                const std::string& in_head, const std::string& head) {
  if (in_base != in_head)
    throw UsageError(fmt::format("cannot compare: {} is {} in {} and {} in {}", field,
                                 quote(in_base), base, quote(in_head), head));
}

void check_same_measurement(const NamedHeader& base, const NamedHeader& head) {
  const RunInfo& a = base.run;
  const RunInfo& b = head.run;
  const auto same = [&](const char* field, const std::string& in_a, const std::string& in_b) {
    check_same(field, in_a, base.name, in_b, head.name);
  };
  same("program", a.program, b.program);
  same("mode", a.mode, b.mode);
  same("backend", a.backend, b.backend);
  same("ranks", std::to_string(a.ranks), std::to_string(b.ranks));
  same("clock", a.clock, b.clock);
  same("time", kind_of_time(a), kind_of_time(b));
  if (!a.cache.empty() && !b.cache.empty())  // older files do not say
    same("cache", a.cache, b.cache);
}

}  // namespace ccl_tests
