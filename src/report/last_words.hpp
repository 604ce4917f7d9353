// The ends of a run's outputs, which another process writes if this one is killed before it writes them.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/output_file.hpp"

namespace ccl_tests {

// Stand in a text for what is known only when process 0 has ended: how it did, and doing what; and what follows for the reader. Whoever
// writes the text puts them in. The comma has a CSV file quote the first.
inline constexpr std::string_view how_process_0_ended = "{how process 0 ended, and during what}";
inline constexpr std::string_view advice_on_the_end = "{what follows for the reader}";

struct LastWord {
  std::string path = {};  // of a file that is there; empty: stdout
  std::string text = {};  // that is to stand at its end; empty: nothing
  // Bytes of the file that stay, whatever is behind them now. -1: its whole lines do.
  std::int64_t size = -1;
  // Of the file, which is left alone if another one has its name.
  FileIdentity identity = {};
};

// Neither a signal nor a core dump of this process, nor SIGKILL, keeps them from being written. If the process cannot
// be started, there are none.
class LastWords {
 public:
  // Starts the process, which holds none of this one's files but the standard ones. Before there are threads, and memory that
  // a network adapter knows: what libraries do at a fork is not done in the middle of their work.
  LastWords();
  ~LastWords();  // nothing is to be written any more
  LastWords(const LastWords&) = delete;
  LastWords& operator=(const LastWords&) = delete;

  // Replaces all of them, at once. No system call, and no wait. If they are longer than there is room for
  // (1 MiB), the last ones are left out. One thread at a time.
  void leave(const std::vector<LastWord>& words);

  // Replaces what this process does now, of which 255 bytes are kept. No system call, and no wait. Thread-safe.
  void doing(std::string_view what);

 private:
  struct Shared;
  std::mutex doing_;
  Shared* shared_ = nullptr;  // with that process; null: there is none
  int alive_ = -1;            // the end of a pipe that is open as long as this process
  ::pid_t keeper_ = -1;
};

}  // namespace ccl_tests
