// Judges each rank and each pair by the times of all pairs, over a band of sizes. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/record/record.hpp"

namespace ccl_tests {

// The times of a run's pairs, side by side. Pure.

// The times of all pairs in one size, type, cycle and placement.
struct PairTake {
  std::size_t bytes = 0;
  std::vector<double> log_seconds;  // natural logarithm, in the order of PairTable::pairs
};

struct PairTable {
  std::vector<RankPair> pairs;  // the smaller rank first; ascending
  std::vector<PairTake> takes;  // ascending sizes
};

// Returns the times of rows that have a pair. Leaves out takes in which a pair has no time above 0
// (-n 0, a run that was interrupted), and in-place times that repeat the out-of-place ones.
PairTable pair_table(const std::vector<Row>& rows);

// Returns the table without pairs of ranks that share a host, if that leaves any. `hosts`: by rank.
// Within a host messages take another way, so that a rank with few neighbours would look slow.
PairTable between_hosts(const PairTable& table, const std::vector<std::string>& hosts);

// Sizes from `first` to `last` bytes.
struct SizeBand {
  std::size_t first = 0, last = 0;
};

// Returns the bands in which ranks are compared: all sizes, the lower and the upper half, and of at
// least 8 sizes the lowest and the highest quarter. A host may be slow at small or large sizes
// only.
std::vector<SizeBand> bands_of(const PairTable& table);

// Effects are natural logarithms of ratios of times. Lists are by rank or by PairTable::pairs.
struct BandFit {
  std::size_t takes = 0;          // in the band
  double take_sigma = 0;          // robust standard deviation of a pair's time within a take
  double sigma = 0;               // of a pair's median over the takes; infinite: too few pairs
  double spread = 0;              // robust standard deviation of the ranks' effects
  std::vector<double> effect;     // of each rank; median 0
  std::vector<double> error;      // standard error of the effect
  std::vector<double> residual;   // of each pair, beyond the effects of its ranks
  std::vector<double> rank_z;     // evidence that the rank's pairs are slower than the others
  std::vector<double> link_z;     // evidence that the pair is slower than its ranks explain
  std::vector<double> largest_z;  // that rank_z can become with as many takes
};

// Fits the band. A pair's value is the median over the band's takes of its time over the take's
// median: however much noise the takes of one pair share, the scatter between pairs contains it.
// The effects come from fit_effects(). sigma is at least what the scatter within pairs lets expect.
// Evidence is Wilcoxon's rank sum of each take, as a standard normal value of at most 4, summed
// over the takes and divided by the root of their number. It assumes only that takes are
// independent.
BandFit fit_band(const PairTable& table, const SizeBand& band);

// Returns the effect of `rank` at each size of `sizes` (ascending bytes): the median of its pairs'
// times over that of the other pairs.
std::vector<double> effects_by_size(const PairTable& table, int rank,
                                    const std::vector<std::size_t>& sizes);

// Returns the sizes of the table, ascending.
std::vector<std::size_t> sizes_of(const PairTable& table);

}  // namespace ccl_tests
