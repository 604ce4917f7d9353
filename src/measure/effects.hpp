// Finds how much longer than the others each end of transfers takes to send and to receive. Pure.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace ccl_tests {

// One direction of one pair of hosts or ranks, by their numbers. Observations of one group share
// conditions.
struct Observation {
  int from = 0, to = 0;
  std::size_t group = 0;
  double value = 0;
};

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
// the number of parameters; infinite unless there are more observations than parameters.
// `hosts` is one more than the largest number of a host.
Effects fit_effects(std::span<const Observation> seen, std::size_t hosts);

// Returns the robust standard deviation of `effects`, whose median is 0: 1.4826 times the median
// absolute effect, corrected for their number (Croux and Rousseeuw, COMPSTAT 1992). Values that are
// not finite are left out. fast_half: only effects of at most 0 count. Bad hosts lie on the slow
// side, and two of six hide each other.
double spread_of(std::span<const double> effects, bool fast_half);

}  // namespace ccl_tests
