// Rows out of what all ranks have found. Pure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/measure/stopping.hpp"
#include "src/run/operation_workload.hpp"

namespace ccl_tests {

// One rank's times of single iterations (-I).
struct RankIntervals {
  std::uint64_t process = 0;          // that the rank is in
  std::span<const double> intervals;  // seconds of each timed iteration
};

// Returns the times of one operation of each iteration, and their statistics.
// operations: that an iteration is made of, one after the other.
// skip: first iterations that the statistics leave out; the last iteration always counts.
IterationTimes iteration_times(const std::vector<RankIntervals>& ranks, double operations,
                               int skip);

// The findings of all ranks of the job in one form of a row, by rank.
struct FormFindings : TakenSamples {
  std::vector<RankReport> reports;
  std::size_t calls = 0;                // that the samples of a rank stand for
  bool checked = false;                 // results were compared
  std::optional<double> clock_error_s;  // of moments of different ranks; nullopt: not comparable
};

// The subject of a row, and how times of ranks become one.
struct RowContext {
  const Problem& problem;  // as rank 0 sees it
  const Options& options;
  const RankTable& table;
  int ranks_per_process = 1;
  double clock_cost_s = 0;  // of one reading
  bool cpus_short = false;  // ranks wait for CPUs: times are fast ones

  Average average() const { return static_cast<Average>(options.measure.average); }
};

// Returns the measurement of group `group`, without its mismatches.
Measurement measurement_of(const RowContext& in, int group, const FormFindings& found);

// The rows of one point: on rank 0 one, or one of each group; elsewhere none.
struct PointRows {
  std::vector<Row> rows;
  std::vector<std::string> wrong;  // what was wrong, one line for each rank and form
  double spent_s = 0;              // on timed calls, as far as a budget limits them
};

// Returns whether the form's cell repeats the out-of-place one: the collective has no other form.
bool repeats_out_of_place(const Problem& problem, Form form);

// Sets the cell of that form in the row of each group, and adds what is wrong.
void add_form(PointRows& result, const RowContext& in, Form form, const FormFindings& found);

// As add_form, of calls that no row is of: what was checked, no times. where: of wrong ones.
void add_checked(PointRows& result, const RowContext& in, const FormFindings& found,
                 std::string_view where);

// Adds what checking further calls of a form found to its cell in the row of each group. where: "out
// of place, beside memory". found: without times.
void add_calls(PointRows& result, const RowContext& in, Form form, std::string_view where,
               const FormFindings& found);

// Sets how near each cell's time is to the lower bound of a call that takes so many rounds.
void add_efficiency(Row& row, const Ceiling& ceiling, int rounds);

// Returns the row of the slowest group, which holds up a training step, and all that is wrong.
Row slowest(const std::vector<Row>& rows);

}  // namespace ccl_tests
