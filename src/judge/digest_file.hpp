// The digests of results (--reproducible), kept from row to row and, in a file, from run to run.
#pragma once

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "src/core/output_file.hpp"

namespace ccl_tests {

// Lines of 16 hexadecimal digits, two blanks and the row that they are of, as in files of sha256sum, so that diff and
// sort can be used on them.
class DigestFile {
 public:
  DigestFile() = default;  // nothing is kept beyond the run
  // A file that does not exist yet is made. Throws UsageError if it cannot be read or written, or has other
  // lines or two digests of a row, or if another run has it open.
  explicit DigestFile(std::string path);

  // Where a digest of a row is known from.
  struct Known {
    std::string digest;
    bool from_file = false;  // else a row of this run
  };
  // Returns what was known of the row. One that was not is added. Throws Error if the file cannot be written.
  std::optional<Known> compare(const std::string& row, const std::string& digest);
  // Throws Error if the file cannot be found under its name any more.
  void check() const;
  const std::string& path() const { return path_; }

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

}  // namespace ccl_tests
