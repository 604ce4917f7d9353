// Results files, read back, and which runs and rows of them can be compared.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "src/record/record.hpp"

namespace ccl_tests {

struct RecordedRun {
  RunInfo info;
  std::vector<Row> rows;
  std::optional<RunSummary> summary;  // absent: the process was killed
};

// Reads a .jsonl file of schema 2, which may hold several runs one after the other. A last line
// that a killed process left unfinished is skipped. Throws Error that names the path and the line.
std::vector<RecordedRun> read_runs(const std::string& path);

// Returns what is wrong with the run's results: elements of a row or of calls before the first one,
// or bits that vary, whether the run reached its end or not. Empty: nothing that is known.
std::string found_wrong(const RecordedRun& run);

// Times of two runs with equal keys are compared.
struct RowKey {
  std::size_t bytes = 0;
  DataType type = DataType::float32;
  std::optional<ReduceOp> op;
  std::optional<int> root, group;
  std::optional<RankPair> pair;
  bool in_place = false;

  // By size, type, operation, and so on.
  auto operator<=>(const RowKey&) const =
      default;  // NOLINT(modernize-use-nullptr): takes it for a 0
};

// Returns the key of one of the row's two times.
inline RowKey key_of(const Row& row, bool in_place) {
  return {row.bytes, row.type, row.op, row.root, row.group, row.pair, in_place};
}

// Returns false if the suite's arithmetic reduced one of the two, and the library's the other.
inline bool same_arithmetic(const std::string& a, const std::string& b) {
  return a == b || a.empty() || b.empty();  // older files do not say
}

// A run's header and where it comes from, in messages: a file, or "base".
struct NamedHeader {
  std::string name;
  const RunInfo& run;
};

// Returns the rule by which the run's tokens chose experts (--routing). Empty: it has none.
std::string routing_of(const RunInfo& run);

// The routings that two runs may have which are compared: the same one, or any two.
enum class Routings { same, any };

// Throws UsageError that names the field and both values if times of the two runs cannot be
// compared: another program, mode, backend, number of ranks, clock, kind of time or use of caches.
void check_same_measurement(const NamedHeader& base, const NamedHeader& head,
                            Routings routings = Routings::same);

// Throws UsageError that names the field if it is not the same in both.
void check_same(const char* field, const std::string& in_base, const std::string& base,
                const std::string& in_head, const std::string& head);

}  // namespace ccl_tests
