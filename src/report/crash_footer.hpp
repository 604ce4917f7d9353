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

// Placeholders for what is known only when process 0 has ended: how it ended and during what, and what follows for the
// reader. The process that writes the text fills them in. The comma has a CSV file quote the first.
inline constexpr std::string_view how_process_0_ended = "{how process 0 ended, and during what}";
inline constexpr std::string_view advice_on_the_end = "{what follows for the reader}";

// Stands for the job's exit code then: 4, or 5 if others waited for process 0, which was stopped.
inline constexpr int exit_code_of_the_end = 1973214004;

// The end of one output.
struct OutputEnd {
  std::string path = {};  // of a file that is there; empty: stdout
  std::string text = {};  // that is to stand at its end; empty: nothing
  // Bytes of the file that stay, whatever is behind them now. -1: its whole lines do.
  std::int64_t size = -1;
  // The file is left alone if another one has its name.
  FileIdentity identity = {};
  // Written only if a signal ends the process: its own end has been written, and is true otherwise.
  bool if_killed = false;
};

// Another process that writes the ends, whatever ends this one: a signal, a core dump, SIGKILL. If it cannot be started,
// there are none.
class CrashFooter {
 public:
  // Starts the process, which holds none of this one's files but the standard ones. To be called before there are threads, and memory
  // that a network adapter knows: what libraries do at a fork is not done in the middle of their work.
  CrashFooter();
  ~CrashFooter();  // nothing is to be written any more
  CrashFooter(const CrashFooter&) = delete;
  CrashFooter& operator=(const CrashFooter&) = delete;

  // Replaces all ends at once, without a system call or a wait. Ends that do not fit (1 MiB) are left out, the
  // last ones first. One thread at a time.
  void set(const std::vector<OutputEnd>& ends);

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
