// What mesh_perf prints and writes.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/output_file.hpp"
#include "src/job/rank.hpp"
#include "src/report/crash_footer.hpp"
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

// Returns what to use if the times of a run with these arguments are too uncertain.
std::string longer_run(const Arguments& arguments);

// The results of process 0, which another process ends if this one is killed (CrashFooter).
// Thread-safe: the end may come while a turn is added.
class MeshReport {
 public:
  // Opens the file; empty: none. To be called before there are threads. Throws UsageError.
  MeshReport(const Arguments& arguments, const std::string& file);

  // Tells what this process does, for the end that another process writes. Waits for nobody.
  void doing(std::string_view what) { crash_footer_.doing(what); }
  void begin(const Rank& rank);
  void add(const FoundTurn& turn);
  // text: Rank::spoiled_text(), after the last turn of a run with --inject.
  void set_spoiled(std::string text);
  // Returns the exit code of what there is so far.
  int code();
  // Prints the matrix of all turns so far and what they say, and ends the file. failure: exit code of
  // the failure that ended the run; 0: it is complete. Returns the exit code.
  int end(int failure, const std::vector<std::string>& errors);

 private:
  // The end of a run.
  struct End {
    int failure = 0;  // exit code of the failure that ended it; 0: it is complete
    std::vector<std::string> errors = {};  // the verdict says the first one
    int code = 0;
    std::string verdict = {};
  };
  std::vector<Victim> matrix() const;
  int code_of(std::size_t missing) const;  // patterns that were not measured alone
  // Completes the end: its code and verdict.
  void judge(End& end, const std::vector<Victim>& matrix) const;
  // Return what stands at the end of stdout and of the file.
  std::string printed(const End& end, const std::vector<Victim>& matrix) const;
  std::string written(const End& end, const std::vector<Victim>& matrix) const;
  // Sets what another process writes if this one is killed from now on: after `size` bytes of the
  // file, -1: its whole lines.
  void prepare(std::string on_stdout, std::string in_file, std::int64_t size);
  void prepare_for_kill();  // ... the end of what there is so far

  const Arguments& arguments_;
  std::optional<OutputFile> file_;
  std::mutex mutex_;
  std::vector<Turn> turns_;
  std::uint64_t calls_ = 0, verified_ = 0, wrong_turns_ = 0;
  std::string first_wrong_, spoiled_;
  std::set<std::string> hosts_;
  bool begun_ = false;
  CrashFooter crash_footer_;
  std::size_t prepared_turns_ = 0;  // of the matrix that follows
  std::vector<Victim> prepared_matrix_ = {};
};

}  // namespace ccl_tests::mesh
