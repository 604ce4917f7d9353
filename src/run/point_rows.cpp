#include "src/run/point_rows.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "src/record/row_text.hpp"

namespace ccl_tests {
namespace {

// Of one group's cell.
void add_mismatches(PointRows& result, const RowContext& in, std::size_t group,
                    std::string_view where, const FormFindings& found, Measurement& cell) {
  const SweepPoint& point = in.problem.point;
  cell.mismatches = mismatches_of(*point.groups, static_cast<int>(group), found, in.table,
                                  !in.problem.collective->domain.paired);
  for (const Mismatch& mismatch : cell.mismatches)
    result.wrong.push_back(wrong_line(mismatch, row_place(result.rows[group], point.bytes, where)));
}

}  // namespace

bool repeats_out_of_place(const Problem& p, Form form) {
  return form == Form::in_place &&
         !p.collective->layout(shape_of(p.point, p.shape.options, 0)).in_place;
}

void add_form(PointRows& result, const RowContext& in, Form form, const FormFindings& found) {
  const Problem& p = in.problem;
  const char* const where = form == Form::in_place ? "in place" : "out of place";
  for (std::size_t g = 0; g < result.rows.size(); ++g) {
    const int group = static_cast<int>(g);
    Measurement m = measurement_of(p.point, *p.collective, in.options, group, found, in.rule);
    m.repeats_out_of_place = repeats_out_of_place(p, form);
    add_mismatches(result, in, g, where, found, m);
    Row& row = result.rows[g];
    (form == Form::in_place ? row.in_place : row.out_of_place) = std::move(m);
    const auto first = static_cast<std::size_t>(p.point.groups->members(group)[0]);
    if (row.algorithm.empty()) row.algorithm = found.reports[first].algorithm;
  }
}

void add_first_call(PointRows& result, const RowContext& in, const FormFindings& found) {
  for (std::size_t g = 0; g < result.rows.size(); ++g) {
    Measurement& m = result.rows[g].out_of_place;
    m.calls = found.reports.front().calls;
    m.verified_calls = found.reports.front().verified;
    add_mismatches(result, in, g, first_call_words, found, m);
    for (const Mismatch& mismatch : m.mismatches) m.wrong = m.wrong.value_or(0) + mismatch.wrong;
    m.failed_ranks = m.mismatches.size();
  }
}

}  // namespace ccl_tests
