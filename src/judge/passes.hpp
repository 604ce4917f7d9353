// Rows that are measured in several passes (--passes), and the one row made of them. Pure.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "src/measure/repeatability.hpp"
#include "src/record/record.hpp"

namespace ccl_tests {

// Returns the row that stands for rows of the same cell, in the order of their passes; at least
// one. Its times are medians over the passes; its counts and what is wrong are sums. Its interval
// is that of the pass in the middle, widened to cover the times of all and, from three passes on,
// what one more could be, whose scatter that of `others` says something about (usual_deviation). A
// time is "unstable" if those differ by more than the widest interval of a pass is wide.
// precision: that half of the interval shall have.
Row combined(const std::vector<Row>& passes, double precision,
             const std::vector<Scatter>& others = {});

// The moments of n, by ascending time, that stand for calls whose ranks wait for CPUs: `best`, the
// fastest of up to twenty (or the second of up to forty), gives the time, and its interval goes as
// far as `far`; nullopt: there are too few.
struct FastMoments {
  std::size_t best = 0;
  std::optional<std::size_t> far;
};
inline FastMoments fast_moments(std::size_t n) {
  const std::size_t best = (n - 1) / 20, far = best + 4;
  return {best, far < n ? std::optional(far) : std::nullopt};
}

// Returns the row that stands for rows of one cell at several moments of a run, the last of which
// was verified. As combined(), but from five moments on its interval does not show the two farthest
// ones, it has the flags that most moments have, and the stamps of all (--raw).
Row combined_moments(const std::vector<Row>& moments, double precision,
                     const std::vector<Scatter>& others = {});

// Returns the scatters of rows, each at several moments.
std::vector<Scatter> scatters_of(const std::vector<std::vector<Row>>& rows);

// Where a row stands in the sweep: the number of its point, and of the row among the point's.
using RowPlace = std::pair<std::size_t, std::size_t>;

struct RequestedRow {
  Row row;
  std::size_t requested = 0;  // the size that the sweep asked for
};

// Keeps rows until all their passes are there.
class PassRows {
 public:
  PassRows(int passes, double precision)
      : passes_(static_cast<std::size_t>(passes)), precision_(precision) {}

  // Returns the combined row if this pass was the last one of its place.
  std::optional<Row> add(const Row& row, std::size_t requested, RowPlace place);

  // Returns, and forgets, the combined rows of places with some passes, in the sweep's order.
  std::vector<RequestedRow> take_rest();

 private:
  struct Place {
    std::vector<Row> rows;
    std::size_t requested = 0;
  };

  // Returns the scatters of the other rows' passes so far.
  std::vector<Scatter> scatters_beside(RowPlace place) const;

  std::size_t passes_;
  double precision_;
  std::map<RowPlace, Place> places_;
  std::vector<Scatter> whole_;  // of places that had all their passes
};

}  // namespace ccl_tests
