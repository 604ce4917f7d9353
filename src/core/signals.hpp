// Signals that whoever started this process has decided about.
#pragma once

#include <csignal>

namespace ccl_tests {

// A signal that is ignored and then blocked is delivered to sigtimedwait and signalfd all the same.
inline bool is_ignored(int signal) {
  struct sigaction now {};
  return ::sigaction(signal, nullptr, &now) == 0 && now.sa_handler == SIG_IGN;
}

}  // namespace ccl_tests
