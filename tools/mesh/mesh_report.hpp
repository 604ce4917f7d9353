// What mesh_perf prints and writes.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "src/core/output_file.hpp"
#include "src/job/rank.hpp"
#include "tools/mesh/arguments.hpp"
#include "tools/mesh/matrix.hpp"

namespace ccl_tests::mesh {

// A turn with what was verified in it.
struct FoundTurn : Turn {
  std::uint64_t calls = 0,
                verified = 0;  // of the first rank of the job, over all patterns of the turn
  std::vector<std::string> wrong = {};  // a line for each rank with wrong elements
};

// Returns what runs beside the victim, for messages and files; empty: nothing.
std::string beside_text(const std::vector<Pattern>& patterns, std::size_t victim, int beside);

// Returns the table.
std::string table_text(const std::vector<Pattern>& patterns, const std::vector<Victim>& matrix);

// The results of process 0. Thread-safe: the end may come while a turn is added.
class MeshReport {
 public:
  // Opens the file; empty: none. Throws UsageError.
  MeshReport(const Arguments& arguments, const std::string& file);

  void begin(const Rank& rank);
  void add(const FoundTurn& turn);
  // Returns the exit code of what there is so far.
  int code();
  // Prints the matrix of all turns so far and what they say, and ends the file. failure: exit code of
  // the failure that ended the run; 0: it is complete. Returns the exit code.
  int end(int failure, const std::vector<std::string>& errors);

 private:
  int code_of(std::size_t missing) const;  // patterns that were not measured alone

  const Arguments& arguments_;
  std::optional<OutputFile> file_;
  std::mutex mutex_;
  std::vector<Turn> turns_;
  std::uint64_t calls_ = 0, verified_ = 0, wrong_turns_ = 0;
  std::string first_wrong_;
  bool begun_ = false;
};

}  // namespace ccl_tests::mesh
