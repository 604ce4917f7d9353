// What rounds show of the hosts, as the fit of their effects takes it.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "src/measure/effects.hpp"
#include "tools/acceptance/measurer.hpp"

namespace ccl_tests::acceptance {

// What a host is compared by: its time, or the tail of its operations.
enum class Statistic { time, tail };

// Returns ln(seconds), or ln(p95 / p50) of the tail. Returns nullopt if a value is missing.
std::optional<double> value_of(const Transfer& transfer, Statistic statistic);

// Returns what `rounds` show of `statistic`. `rounds_per_group` rounds in a row are one group.
std::vector<Observation> observations(std::span<const MeasuredRound> rounds, Statistic statistic,
                                      std::size_t rounds_per_group = 1);

}  // namespace ccl_tests::acceptance
