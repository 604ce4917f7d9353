// How much longer than the others each host takes to send and to receive.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "tools/acceptance/measurer.hpp"

namespace ccl_tests::acceptance {

// What a host is compared by: its time, or the tail of its operations.
enum class Statistic { time, tail };

// Returns ln(seconds), or ln(p95 / p50) of the tail. Returns nullopt if a value is missing.
std::optional<double> value_of(const Transfer& transfer, Statistic statistic);

// One direction of one pair. Observations of one group share conditions, usually a round.
struct Observation {
  int from = 0, to = 0;
  std::size_t group = 0;
  double value = 0;
};

// Returns what `rounds` show of `statistic`. `rounds_per_group` rounds in a row are one group.
std::vector<Observation> observations(std::span<const MeasuredRound> rounds, Statistic statistic,
                                      std::size_t rounds_per_group = 1);

// Effects on a value, by number of the host. A host without observations has the effect 0.
struct Effects {
  std::vector<double> sending, receiving;   // median 0 over the hosts with observations
  std::vector<std::size_t> sent, received;  // number of observations
  std::vector<double> residuals;            // of each observation
  double sigma = 0;                         // robust standard deviation of one observation
};

// Fits value = group + sending[from] + receiving[to] + residual by three sweeps of locations over
// groups, senders and receivers: medians (Tukey's median polish), then two steps of Huber's M
// estimate, k = 1.345 sigma. sigma is 1.4826 times the median absolute residual, corrected for
// the number of parameters. sigma is infinite if there are no more observations than parameters.
// `hosts` is one more than the largest number of a host.
Effects fit_effects(std::span<const Observation> seen, std::size_t hosts);

}  // namespace ccl_tests::acceptance
