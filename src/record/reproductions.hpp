// The findings of a run about the bits of its results (--reproducible), and their digests
// (--digests), kept from row to row and, in a file, from run to run.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "src/core/output_file.hpp"
#include "src/record/record.hpp"

namespace ccl_tests {

// Lines of 16 hexadecimal digits, two blanks and the row that they are of, as in files of
// sha256sum, so that diff and sort can be used on them.
class DigestFile {
 public:
  DigestFile() = default;  // nothing is kept beyond the run
  // A file that does not exist yet is made. Throws UsageError if it cannot be read or written, or
  // has other lines or two digests of a row, or if another run has it open.
  explicit DigestFile(std::string path);

  // Where a digest of a row is known from.
  struct Known {
    std::string digest;
    bool from_file = false;  // else a row of this run
  };
  // Returns what was known of the row, or adds it. Throws Error if the file cannot be written.
  std::optional<Known> compare(const std::string& row, const std::string& digest);
  // Throws Error if the file cannot be found under its name any more.
  void check() const;

 private:
  void read();

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::string path_;
  std::map<std::string, Known> known_;
  FileIdentity identity_;
  std::unique_ptr<std::FILE, Close> file_;  // for the rows that are added
};

// "stable (20 calls, digest 0123456789abcdef); ...", behind the row's line in the table.
std::string reproduction_text(const Row& row);

// "the same again - 12 rows: 4 order-independent, 8 stable", in the footer.
std::string reproduction_text(const RunSummary& summary);

// Returns what a row's digest is of: "all_reduce_perf float sum, 16384 elements, 3 ranks, seed 1".
std::string digest_name(const RunInfo& run, const Row& row);

// Sets what earlier rows and runs say of a row's digest, if the row is right and does not vary.
void compare_digests(DigestFile& digests, const RunInfo& run, Row& row);

// Counts a row that has a reproduction. requested: the size that was asked for.
void add_reproduction(std::optional<ReproductionSummary>& summary, const Row& row,
                      std::size_t requested);

}  // namespace ccl_tests
