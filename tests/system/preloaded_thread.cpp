// A library for LD_PRELOAD that does what a GPU's driver does: it has a thread that blocks no signal, before main().
//   PRELOADED_EXIT_S=N        after N seconds the thread of rank 0 (RANK) ends the process with exit code 3
//   PRELOADED_NO_PIDFD=1      the kernel is as before Linux 5.3: it has no pidfd_open
//   PRELOADED_NO_SIGNALS=1    main()'s thread starts with all signals blocked
//   PRELOADED_WAITS=1         the thread waits for all children of the process
#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>

namespace {

bool is_set(const char* name) { return std::getenv(name) != nullptr; }

void* sleep_for_ever(void* /*unused*/) {
  sigset_t none;
  sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
  const char* const rank = std::getenv("RANK");
  const char* const seconds = std::getenv("PRELOADED_EXIT_S");
  if (seconds != nullptr && rank != nullptr && std::strcmp(rank, "0") == 0) {
    for (unsigned left = static_cast<unsigned>(std::atoi(seconds)); left > 0;) left = ::sleep(left);
    ::_exit(3);
  }
  constexpr useconds_t often = 1000;
  while (is_set("PRELOADED_WAITS"))
    if (::waitpid(-1, nullptr, 0) < 0) ::usleep(often);
  for (;;) ::pause();
}

struct Thread {
  Thread() {
    pthread_t thread{};
    ::pthread_create(&thread, nullptr, sleep_for_ever, nullptr);
    ::pthread_detach(thread);
    if (!is_set("PRELOADED_NO_SIGNALS")) return;
    sigset_t all;
    sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, nullptr);
  }
};

const Thread thread;

}  // namespace

// In place of the C library's.
extern "C" long syscall(long number, ...) noexcept {
  using Function = long (*)(long, ...);
  static const auto next = reinterpret_cast<Function>(::dlsym(RTLD_NEXT, "syscall"));
  constexpr long pidfd_open = 434;
  if (number == pidfd_open && is_set("PRELOADED_NO_PIDFD")) {
    errno = ENOSYS;
    return -1;
  }
  va_list list;
  va_start(list, number);
  long words[6];
  for (long& word : words) word = va_arg(list, long);
  va_end(list);
  return next(number, words[0], words[1], words[2], words[3], words[4], words[5]);
}
