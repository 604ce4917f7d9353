// Files that are one document each: whole after every row, whatever comes next.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/output_file.hpp"
#include "src/report/reporter.hpp"

namespace ccl_tests {

// An item of the document, which a cell becomes. key: of items with the same one the first is written; empty: all are.
struct DocumentItem {
  std::string text;
  std::string key = {};
};

// A document's texts of `run`, which has no program until it is known: head, items with a separator
// between them, tail.
struct DocumentFormat {
  virtual ~DocumentFormat() = default;
  virtual std::string head() const = 0;
  virtual std::vector<DocumentItem> items(const Row& row) const = 0;
  virtual std::string separator() const { return {}; }
  // summary: null until the run ends.
  virtual std::string tail(const RunSummary* summary) const = 0;
  // Called when `items` and, for now, `tail` have been written. Returns the head again, as long as before,
  // if it tells of what is behind it; empty: it stays.
  virtual std::string head_of(std::string_view /*items*/, std::string_view /*tail*/) { return {}; }

  RunInfo run = {};
};

// Rows of single passes are left out.
std::unique_ptr<Reporter> document_reporter(OutputFile file,
                                            std::unique_ptr<DocumentFormat> format);

// Returns what tells the run's cells from those of a plain run of the program, beside its mode: its
// label, processes, and settings that are not the default. "cache:cold".
std::vector<std::string> distinctions(const RunInfo& run);

// "all_reduce_perf/gloo/ranks:2/float/sum/bytes:8/out_of_place": cells of several runs that have one name are compared.
std::string benchmark_name(const RunInfo& run, const Row& row, bool in_place);

// Returns false if nothing was timed (-n 0): the cell's times are 0.
bool is_timed(const Measurement& cell);

// "12.3 us (12.2 us to 12.5 us)", without an interval "12.3 us"; "not timed".
std::string time_text(const Measurement& cell);

// Returns what an UNRELIABLE run's times are worth. Empty: the run is another one, or has no times.
std::string unreliable_text(const RunSummary& summary);

// Returns the note's text and what to do.
std::string with_remedy(const Note& note);

// Returns these of each warning of the run.
std::vector<std::string> warnings(const RunInfo& run);

// Returns the number of the cell's timed operations; aggregate: RunInfo's.
std::uint64_t timed_operations(const Measurement& cell, int aggregate);

// Returns the wall seconds that they took.
double timed_seconds(const Measurement& cell, int aggregate);

// Calls f(in_place, cell) for each cell of the row that has_own_time().
template <class F>
void for_each_cell(const Row& row, F&& f) {
  if (row.out_of_place.has_own_time()) f(false, row.out_of_place);
  if (row.in_place.has_own_time()) f(true, row.in_place);
}

}  // namespace ccl_tests
