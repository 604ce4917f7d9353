#include "tools/acceptance/plan_limits.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "src/core/error.hpp"
#include "src/options/values.hpp"

namespace ccl_tests::acceptance {
namespace {

// Why no row of the stage is held to the limit; empty: one is.
std::string why_not_measured(const RateLimit& limit, const RatePlan& stage) {
  if (!stage.run) return "the stage is left out; accepted: run = true";
  const auto& programs = stage.programs;
  if (std::find(programs.begin(), programs.end(), limit.program) == programs.end())
    return fmt::format("the stage does not run it; accepted: {}", fmt::join(programs, ", "));
  const auto& sizes = stage.sizes;
  if (limit.bytes == 0 || std::find(sizes.begin(), sizes.end(), limit.bytes) != sizes.end())
    return {};
  std::vector<std::string> texts;
  for (const std::size_t bytes : sizes) texts.push_back(size_text(bytes));
  return fmt::format("the stage does not have the size; accepted: {}", fmt::join(texts, ", "));
}

}  // namespace

void check_limits(const Plan& plan, const std::string& source) {
  for (auto limit = plan.limits.begin(); limit != plan.limits.end(); ++limit) {
    if (limit->program.empty() ||
        (limit->min_busbw <= 0 && limit->warn_busbw <= 0 && limit->max_time_s <= 0))
      throw UsageError(source + ": a limit needs program, and min_busbw, warn_busbw or max_time");
    if (limit->warn_busbw > 0 && limit->warn_busbw <= limit->min_busbw)
      throw UsageError(fmt::format(
          "{}: the limit of {} in {}: warn_busbw is not above min_busbw, and would never warn",
          source, limit->program, limit->stage));
    const bool twice = std::any_of(plan.limits.begin(), limit, [&](const RateLimit& other) {
      return other.stage == limit->stage && other.program == limit->program &&
             other.bytes == limit->bytes;
    });
    if (twice)
      throw UsageError(
          fmt::format("{}: two limits of {} in {}", source, limit->program, limit->stage));
    const std::string why =
        why_not_measured(*limit, limit->stage == "node" ? plan.node : plan.full);
    if (!why.empty())
      throw UsageError(fmt::format("{}: the limit of {}{} in {}: {}", source, limit->program,
                                   limit->bytes > 0 ? ' ' + size_text(limit->bytes) : "",
                                   limit->stage, why));
  }
}

}  // namespace ccl_tests::acceptance
