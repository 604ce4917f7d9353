// The bytes of a trace: of a file, unpacked if it is compressed, or of a member of an archive.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/error.hpp"

struct gzFile_s;  // of zlib

namespace ccl_tests::replay {

// Where a rank's trace is.
struct TracePlace {
  std::string file;
  std::string member = {};   // of an archive; empty: all of the file
  std::string process = {};  // "host:pid [device]" of a log; empty: all of it
  // The largest communicator of the process, its ranks, and its own rank. Empty: not known.
  std::string world = {};
  int world_ranks = 0, world_rank = -1;

  std::string text() const;  // "'job.tar.gz', 'et.0.json'"
};

// Returns an error that names the trace.
Error cannot_read(const TracePlace& place, const std::string& why);

// A trace that is read from its begin on. A mark of the byte order (BOM) is left out.
class TraceFile {
 public:
  // Throws Error.
  explicit TraceFile(const TracePlace& place);

  // Reads up to `most` bytes, fewer at the end alone. Throws Error, also for what unpacks to more
  // than a trace can.
  std::size_t read(char* to, std::size_t most);
  // Goes to the next file of an archive. Returns its name; empty if there is none.
  std::string next_member();
  [[noreturn]] void fail(const std::string& why) const { throw cannot_read(place_, why); }

 private:
  std::size_t unpack(char* to, std::size_t most);
  // Returns the next `bytes` bytes, which an archive has for itself.
  std::string block(std::size_t bytes);

  TracePlace place_;
  std::unique_ptr<gzFile_s, int (*)(gzFile_s*)> file_;
  std::size_t unpacked_ = 0;
  std::size_t left_ = std::numeric_limits<std::size_t>::max();  // of the member
  std::size_t padding_ = 0;                                     // behind the member
  bool at_begin_ = true;
};

// Returns the first bytes of a trace. Throws Error.
std::string head_of(const TracePlace& place);
// Returns true if a file with such a head is an archive (tar).
bool is_archive(std::string_view head);
// Returns the names of an archive's files as numbers in names count. Throws Error.
std::vector<std::string> members_of(const std::string& file);

// Calls take(line, whether it has its end) for each line of a trace, without its end. Throws Error.
void for_each_line(const TracePlace& place,
                   const std::function<void(std::string_view line, bool ended)>& take);

// Sorts names as people do: "so.2" before "so.10".
void sort_by_number(std::vector<std::string>& names);

}  // namespace ccl_tests::replay
