// The rows of one point, out of what all ranks found. Pure.
#pragma once

#include <string>
#include <vector>

#include "src/job/rank_table.hpp"
#include "src/record/record.hpp"
#include "src/run/operation_workload.hpp"
#include "src/run/point.hpp"
#include "src/run/row.hpp"

namespace ccl_tests {

// What one point gave: on rank 0 the rows, one or one of each group; elsewhere nothing.
struct PointRows {
  std::vector<Row> rows;
  std::vector<std::string> wrong;  // what was wrong, one line for each rank and form
  double spent_s = 0;              // on timed calls, as far as a budget limits them
};

// What a row is of, and how its times are taken.
struct RowContext {
  const Problem& problem;  // as rank 0 sees it
  const CollectiveOptions& options;
  const RankTable& table;
  RowRule rule;
};

// Returns whether the form's cell repeats the out-of-place one: the collective has no other form.
bool repeats_out_of_place(const Problem& problem, Form form);

// Sets the cell of that form in each group's row, and adds what is wrong. result: has a row of each group, out of
// place first.
void add_form(PointRows& result, const RowContext& in, Form form, const FormFindings& found);

// As add_form, of a call that no row is of: what was checked, no times.
void add_first_call(PointRows& result, const RowContext& in, const FormFindings& found);

}  // namespace ccl_tests
