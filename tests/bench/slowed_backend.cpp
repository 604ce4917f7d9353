// Another backend whose operations take longer by a share: a slower library, for tests of
// comparisons. CCL_SLOWED: the other backend ("gloo", "mpi-openmpi"). --backend-option factor=1.2:
// each operation takes 1.2 times as long, of which this rank spends the additional part spinning.
// With factor=1 the clock is read as often, so that a comparison sees nothing but the factor.
// Effects for --beside, of which a process has one rank. rest_us=2000: each operation also rests so
// long, as for a wire. beside=1.25: it rests for so many times its time, while the load works.
// work=0.75: the load loses a quarter of its CPU time, while operations run.
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "src/backends/registry.hpp"
#include "src/core/clock.hpp"
#include "src/core/communicator.hpp"
#include "src/core/error.hpp"
#include "src/core/forwarding_communicator.hpp"
#include "src/core/types.hpp"

namespace ccl_tests {
namespace {

struct Slowing {
  double factor = 1, rest_s = 0, beside = 1, work = 1;
};

double seconds_of(clockid_t clock) {
  timespec now{};
  if (::clock_gettime(clock, &now) != 0) return 0;
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::atomic<double> lost_s = 0;  // that the load's thread spins for at the next signal
const int lose_time = SIGRTMIN + 5;

void spin(int /*signal*/) {
  const double end = seconds_of(CLOCK_THREAD_CPUTIME_ID) + lost_s.load();
  while (seconds_of(CLOCK_THREAD_CPUTIME_ID) < end) {
  }
}

// The thread of this process's load, as seen from outside.
class LoadThread {
 public:
  // Returns the CPU time that it has had, in seconds; 0: there is no load.
  double used_s() {
    if (thread_ == 0) find();
    // The kernel's clock of a thread (clock_getcpuclockid(3) has those of processes).
    return thread_ == 0
               ? 0
               : seconds_of(static_cast<clockid_t>((~static_cast<unsigned>(thread_) << 3) | 6U));
  }
  // Lets it lose so many seconds of its CPU time.
  void lose(double seconds) {
    lost_s = seconds;
    ::syscall(SYS_tgkill, ::getpid(), thread_, lose_time);
  }

 private:
  void find() {
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string name;
      std::getline(std::ifstream(entry.path() / "comm"), name);
      if (name != "ccl-load") continue;
      thread_ = std::atoi(entry.path().filename().c_str());
      struct sigaction action {};
      action.sa_handler = spin;
      action.sa_flags = SA_RESTART;
      ::sigaction(lose_time, &action, nullptr);
    }
  }
  pid_t thread_ = 0;
};

class SlowedCommunicator : public ForwardingCommunicator {
 public:
  SlowedCommunicator(std::unique_ptr<Communicator> below, const Slowing& how)
      : ForwardingCommunicator(*below), below_(std::move(below)), how_(how) {}

 protected:
  void perform(OperationId operation, const Call& call) override {
    const Clock& clock = below_->clock();
    const double begin = clock.now();
    const double used_s = watches() ? load_.used_s() : 0;
    ForwardingCommunicator::perform(operation, call);
    below_->wait();
    if (how_.rest_s > 0) std::this_thread::sleep_for(std::chrono::duration<double>(how_.rest_s));
    double now = clock.now();
    const double end = begin + (now - begin) * how_.factor;
    while (now < end) now = clock.now();
    if (watches()) slow_sides(now - begin, used_s);
  }

 private:
  bool watches() const { return how_.beside != 1 || how_.work != 1; }
  // seconds: of the operation, in which the load worked if it has used more than used_s.
  void slow_sides(double seconds, double used_s) {
    const double now_s = load_.used_s();
    if (now_s <= used_s) return;
    const double since_s = now_s - before_s_;
    before_s_ = now_s;
    if (how_.work < 1 && since_s < 2 * seconds) load_.lose(since_s * (1 - how_.work));
    if (how_.beside > 1)
      std::this_thread::sleep_for(std::chrono::duration<double>(seconds * (how_.beside - 1)));
  }

  std::unique_ptr<Communicator> below_;
  Slowing how_;
  LoadThread load_;
  double before_s_ = 0;
};

class Slowed : public Backend {
 public:
  Slowed() {
    const char* const name = std::getenv("CCL_SLOWED");
    if (name == nullptr) throw UsageError("CCL_SLOWED: must name the backend that is slowed");
    below_ = open_backend(name);
  }
  BackendInfo info() const override {
    BackendInfo info = below_->info();
    for (const char* const key : {"factor", "rest_us", "beside", "work"})
      info.option_keys.emplace_back(key);
    return info;
  }
  std::unique_ptr<Communicator> connect(ControlChannel& channel,
                                        const BackendOptions& options) const override {
    const auto number = [&](const char* key, const char* usual) {
      return std::strtod(options.get(key).value_or(usual).c_str(), nullptr);
    };
    const Slowing how{number("factor", "1"), number("rest_us", "0") * 1e-6, number("beside", "1"),
                      number("work", "1")};
    if (!(how.factor >= 1 && how.rest_s >= 0 && how.beside >= 1 && how.work > 0 && how.work <= 1))
      throw UsageError("factor, beside: at least 1; rest_us: at least 0; work: above 0, up to 1");
    return std::make_unique<SlowedCommunicator>(below_->connect(channel, options), how);
  }
  void check(const BackendOptions& options) const override { below_->check(options); }
  bool open_library(const std::string& file) const override { return below_->open_library(file); }
  void start(const BackendOptions& options) const override { below_->start(options); }
  void finish() const override { below_->finish(); }
  std::string from_process_0(const std::string& bytes, int processes) const override {
    return below_->from_process_0(bytes, processes);
  }

 private:
  BackendPtr below_;
};

}  // namespace
}  // namespace ccl_tests

CCL_TESTS_BACKEND(ccl_tests::Slowed);
