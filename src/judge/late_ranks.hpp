// Finds the rank of a run that was late, from the samples of its rows. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "src/record/record.hpp"

namespace ccl_tests {

class LateRanks {
 public:
  // Counts a row's samples. Ranks of several machines have no common clock, and are not counted.
  void add(const Row& row);

  // Returns the rank that entered last so often that it may be named (stands_out) and so late that
  // the times show it: by 2 % of a sample or more, as the median of its cells. `host` stays empty.
  std::optional<LateRank> found() const;

 private:
  // Numbers of a series of any length: all, or every 2nd, every 4th, ...
  class Thinned {
   public:
    void add(double value);
    const std::vector<double>& values() const { return values_; }

   private:
    std::vector<double> values_;
    std::size_t seen_ = 0, each_ = 1;
  };
  struct Counts {
    double samples = 0, last = 0;
    double by_chance = 0;  // samples in which one of equal ranks would have been last
    Thinned late_s;        // of cells
    Thinned of_sample;     // the same over the median sample
  };

  std::map<int, Counts> ranks_;
};

}  // namespace ccl_tests
