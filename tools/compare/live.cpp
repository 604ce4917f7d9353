#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "src/bootstrap/child_process.hpp"
#include "src/core/clock.hpp"
#include "src/core/error.hpp"
#include "src/core/output_file.hpp"
#include "src/core/quote.hpp"
#include "src/core/signals.hpp"
#include "src/core/write_all.hpp"
#include "src/devices/core_to_core.hpp"
#include "tools/compare/files.hpp"

namespace ccl_tests::compare {
namespace {

bool is_size_flag(const std::string& word) {
  constexpr std::array<std::string_view, 6> names = {"--minbytes",  "--maxbytes", "--stepfactor",
                                                     "--stepbytes", "--sizes",    "--tensors"};
  const std::string_view given = std::string_view(word).substr(0, word.find('='));
  if (given.size() > 2 && given.starts_with("--"))  // programs take beginnings of names, too
    return std::ranges::any_of(names,
                               [&](std::string_view name) { return name.starts_with(given); });
  constexpr std::string_view letters = "befi";  // "-b" or "-b8"
  return word.size() >= 2 && word[0] == '-' && letters.find(word[1]) != std::string_view::npos &&
         (word.size() == 2 || std::isdigit(static_cast<unsigned char>(word[2])) != 0);
}

// A copy of this process, which ends a command and removes the folder if this process is killed.
class Keeper {
 public:
  // To be made before there are threads.
  explicit Keeper(const std::string& folder) {
    std::array<int, 2> pipe{};
    if (::pipe2(pipe.data(), O_CLOEXEC) != 0) return;
    pid_ = ::fork();
    if (pid_ == 0) {
      ::setsid();  // a signal to this process's group does not mean it
      ::close(pipe[1]);
      pid_t group = 0;
      for (pid_t next = 0; ::read(pipe[0], &next, sizeof(next)) == sizeof(next);) group = next;
      if (group > 0) ::kill(-group, SIGKILL);
      std::error_code ignored;
      std::filesystem::remove_all(folder, ignored);
      ::_exit(0);
    }
    ::close(pipe[0]);
    to_ = pipe[1];
  }
  ~Keeper() {
    ::close(to_);
    if (pid_ > 0) ::waitpid(pid_, nullptr, 0);
  }
  Keeper(const Keeper&) = delete;
  Keeper& operator=(const Keeper&) = delete;

  // Tells the process group that runs now; 0: none.
  void tell(pid_t group) const {
    [[maybe_unused]] const auto written = ::write(to_, &group, sizeof(group));
  }

 private:
  int to_ = -1;
  pid_t pid_ = -1;
};

// A command that did not end with 0.
class CommandFailed : public Error {
 public:
  using Error::Error;
};

// A command that runs, in a process group of its own. Its stdin and stdout are /dev/null. The
// destructor ends the group.
class Running {
 public:
  Running(const std::string& command, const Keeper& keeper)
      : child_(start_child({"/bin/sh", {"sh", "-c", "exec >/dev/null\n" + command}})),
        keeper_(keeper) {
    keeper_.tell(child_.pid());
  }
  ~Running() {
    if (!child_.status()) end();
    keeper_.tell(0);
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  // Waits for the end, and kills what the command left behind. Throws Interrupted at a signal.
  ChildStatus wait(const SignalPipe& signals) {
    while (!child_.status()) {
      std::array<pollfd, 3> news = {
          {{signals.fd(), POLLIN, 0}, child_.end_event(), child_.stderr_event()}};
      ::poll(news.data(), news.size(), child_.poll_limit(-1));
      if (const int signal = signals.next()) throw Interrupted{signal};
      read_stderr();
    }
    ::kill(-child_.pid(), SIGKILL);
    read_stderr();
    return *child_.status();
  }

  // Returns the last line of its stderr that is not empty.
  const std::string& last_line() const { return line_.empty() ? last_ : line_; }

 private:
  void read_stderr() {
    std::array<char, 4096> bytes{};
    ssize_t got = 0;
    while ((got = ::read(child_.stderr_fd(), bytes.data(), bytes.size())) > 0)
      std::for_each_n(bytes.begin(), got, [this](char c) { add(c); });
    if (got == 0) child_.close_stderr();
  }

  void add(char c) {
    constexpr std::size_t longest = 4096;
    if (c == '\n') {
      if (!line_.empty()) last_ = std::move(line_);
      line_.clear();
    } else if (line_.size() < longest) {
      line_ += c;
    }
  }

  // Ends the group: SIGTERM, and SIGKILL when the command is still there after the grace.
  void end() {
    constexpr double grace_s = 10;
    ::kill(-child_.pid(), SIGTERM);
    const double limit = monotonic_seconds() + grace_s;
    while (!child_.status() && monotonic_seconds() < limit) Clock().sleep_for(0.01);
    ::kill(-child_.pid(), SIGKILL);
    child_.wait();
  }

  Child child_;
  const Keeper& keeper_;
  std::string line_, last_;
};

// Runs `command` with /bin/sh and waits for its end. Throws CommandFailed with the exit code and
// the last line of the command's stderr if it fails. `shown`: the command as the user knows it.
void run(const SignalPipe& signals, const Keeper& keeper, const std::string& command,
         const std::string& shown) {
  if (const int signal = signals.next()) throw Interrupted{signal};
  Running running(command, keeper);
  const ChildStatus status = running.wait(signals);
  if (status.code == 0) return;
  const std::string name = quote(shown, shown_path_characters);
  if (!status.known) throw CommandFailed(fmt::format("the command {} {}", name, unknown_end));
  const std::string end = status.signal != 0 ? fmt::format("was killed by signal {}", status.signal)
                                             : fmt::format("ended with exit code {}", status.code);
  const std::string& last = running.last_line();
  const bool wrong = status.code == exit_code(Exit::wrong_data);  // without a file that says it
  throw CommandFailed(fmt::format("the command {} {}: {}", name, end,
                                  last.empty() ? "it wrote nothing to stderr" : last),
                      wrong ? Exit::wrong_data : Exit::failed);
}

// One side's command, again and again.
class Sides {
 public:
  Sides(const Commands& commands, bool any_arithmetic)
      : commands_(commands), any_arithmetic_(any_arithmetic) {}

  RunTimes run(Side side, const std::set<std::size_t>& sizes) {
    const std::string& command = side == Side::base ? commands_.base : commands_.head;
    const std::string file = folder_.file(fmt::format("{}.jsonl", ++runs_));
    const bool own_sizes = chooses_sizes(commands_.base) || chooses_sizes(commands_.head);
    const char* const name = side == Side::base ? "base" : "head";
    try {
      compare::run(signals_, keeper_,
                   with_flags(command, file, own_sizes ? std::set<std::size_t>() : sizes), command);
    } catch (const CommandFailed&) {
      // Whatever code a launcher made of it.
      if (auto run = found_before_it_failed(command, file)) check_right({name, std::move(*run)});
      throw;
    }
    NamedRun now{name, read(command, file)};
    check_right(now);
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
    std::optional<NamedRun>& first = side == Side::base ? base : head;
    RunTimes times = times_of(now.run, judged_by(now.run.info));
    if (!first) {
      first = std::move(now);
      if (base && head) {
        check_comparable(*base, *head, Routings::any);
        if (!any_arithmetic_) check_same_arithmetic(*base, *head);
        check_same_number(*base, *head);
      }
    }
    return times;
  }

  std::optional<NamedRun> base, head;  // the first run of each

 private:
  static RecordedRun read(const std::string& command, const std::string& file) {
    std::vector<RecordedRun> runs;
    if (::access(file.c_str(), F_OK) == 0) runs = read_runs(file);
    if (runs.empty())
      throw Error(fmt::format("the command {} wrote no results to the file of -J that was appended",
                              quote(command, shown_path_characters)));
    return std::move(runs.front());
  }

  // Returns what a command that failed has left.
  static std::optional<RecordedRun> found_before_it_failed(const std::string& command,
                                                           const std::string& file) {
    try {
      return read(command, file);
    } catch (const Error&) {
      return std::nullopt;
    }
  }

  const Commands& commands_;
  bool any_arithmetic_;
  ScratchFolder folder_{"ccl-compare-"};
  Keeper keeper_{folder_.path()};
  SignalPipe signals_;
  std::size_t runs_ = 0;
};

}  // namespace

bool chooses_sizes(const std::string& command) {
  std::istringstream words(command);
  for (std::string word; words >> word;)
    if (is_size_flag(word)) return true;
  return false;
}

std::string with_flags(const std::string& command, const std::string& file,
                       const std::set<std::size_t>& sizes) {
  std::string text = fmt::format("{} -J {}", command, shell_quoted(file));
  if (!sizes.empty()) text += fmt::format(" --sizes {}", fmt::join(sizes, ","));
  return text;
}

Report compare_commands(const Commands& commands, const Plan& plan) {
  Sides sides(commands, plan.any_arithmetic);
  Machine machine;
  machine.run = [&](Side side, const std::set<std::size_t>& sizes) {
    return sides.run(side, sizes);
  };
  if (plan.probe_limit != 0) machine.probe = [] { return core_to_core(); };
  const double start = monotonic_seconds();
  if (plan.time_budget_s > 0)
    machine.out_of_time = [&] { return monotonic_seconds() >= start + plan.time_budget_s; };
  // A line on stderr: for each pair on a terminal, elsewhere at most every 10 s.
  machine.progress = [last = start](const char* part, std::size_t done,
                                    std::size_t wanted) mutable {
    const double now = monotonic_seconds();
    if (::isatty(STDERR_FILENO) == 0 && now - last < 10) return;
    last = now;
    print_error(fmt::format("ccl_compare: {}: {} of {} pairs\n", part, done, wanted));
  };
  Report report;
  report.base = commands.base;
  report.head = commands.head;
  report.aa = commands.aa;
  report.interleaved = true;
  report.threshold = plan.threshold;
  report.comparison = compare_interleaved(machine, plan);
  report.program = sides.base->run.info.program;
  report.notes = differences(*sides.base, *sides.head);
  report.by = judged_by(sides.base->run.info);
  return report;
}

}  // namespace ccl_tests::compare
