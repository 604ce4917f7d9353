#include "src/judge/sweep_fits.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace ccl_tests {
namespace {

constexpr double least_sigma = 0.01;
constexpr double sigma_of_batches = 0.03;

double sigma_of(const Measurement& cell) {
  if (!cell.stream) return sigma_of_batches;
  return std::max(least_sigma, cell.stream->half_width(cell.seconds).value_or(0) / 1.96);
}

bool judged(const Measurement& cell) {
  return !cell.stream || cell.stream->half_width(cell.seconds).value_or(1) <= most_error;
}

auto key(const TimedCell& cell) { return std::tie(cell.type, cell.op, cell.root, cell.in_place); }

// The cells of one sweep.
struct Sweep {
  TimedCell first;
  bool several_sizes = false;
  std::size_t left_out = 0;
  std::vector<SizeTime> times;
};

}  // namespace

void add_cells(std::vector<TimedCell>& cells, const Row& row) {
  const auto add = [&](const Measurement& cell, bool in_place) {
    if (!cell.has_own_time()) return;
    cells.push_back({row.type,
                     row.op,
                     row.root,
                     in_place,
                     judged(cell),
                     {.bytes = row.bytes, .seconds = cell.seconds, .sigma = sigma_of(cell)}});
  };
  add(row.out_of_place, false);
  add(row.in_place, true);
}

std::vector<SweepFit> sweep_fits(const std::vector<TimedCell>& cells) {
  std::vector<Sweep> sweeps;
  for (const TimedCell& cell : cells) {
    auto sweep = std::find_if(sweeps.begin(), sweeps.end(),
                              [&](const Sweep& s) { return key(s.first) == key(cell); });
    if (sweep == sweeps.end()) sweep = sweeps.insert(sweep, Sweep{.first = cell, .times = {}});
    sweep->several_sizes |= cell.time.bytes != sweep->first.time.bytes;
    if (cell.judged) {
      sweep->times.push_back(cell.time);
    } else {
      ++sweep->left_out;
    }
  }
  std::vector<SweepFit> fits;
  for (const Sweep& sweep : sweeps) {
    if (!sweep.several_sizes) continue;
    const TimedCell& of = sweep.first;
    fits.push_back({of.type, of.op, of.root, of.in_place ? "in_place" : "out_of_place",
                    sweep.left_out, fit_times(sweep.times)});
  }
  return fits;
}

}  // namespace ccl_tests
