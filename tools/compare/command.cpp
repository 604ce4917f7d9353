#include "tools/compare/command.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <optional>
#include <sstream>
#include <string_view>
#include <vector>

#include "src/bootstrap/child_process.hpp"
#include "src/core/clock.hpp"
#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/core/signals.hpp"

namespace ccl_tests::compare {
namespace {

constexpr std::array<std::string_view, 6> long_names = {"--minbytes",  "--maxbytes", "--stepfactor",
                                                        "--stepbytes", "--sizes",    "--tensors"};

bool is_size_flag(const std::string& word) {
  const std::string_view given = std::string_view(word).substr(0, word.find('='));
  if (given.size() > 2 && given.starts_with("--"))  // programs take beginnings of names, too
    return std::any_of(long_names.begin(), long_names.end(),
                       [&](std::string_view name) { return name.starts_with(given); });
  constexpr std::string_view letters = "befi";  // "-b" or "-b8"
  return word.size() >= 2 && word[0] == '-' && letters.find(word[1]) != std::string_view::npos &&
         (word.size() == 2 || std::isdigit(static_cast<unsigned char>(word[2])) != 0);
}

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

namespace {

constexpr double grace = 10;  // seconds between SIGTERM and SIGKILL

std::vector<std::string> environment_now() {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable != nullptr; ++variable)
    variables.emplace_back(*variable);
  return variables;
}

// The last line of a text that arrives in pieces, without empty lines.
class LastLine {
 public:
  void add(std::string_view bytes) {
    constexpr std::size_t longest = 4096;
    for (const char c : bytes) {
      if (c == '\n') {
        if (!line_.empty()) last_ = std::move(line_);
        line_.clear();
      } else if (line_.size() < longest) {
        line_ += c;
      }
    }
  }
  const std::string& text() const { return line_.empty() ? last_ : line_; }

 private:
  std::string line_, last_;
};

// A command that runs, in a process group of its own. The destructor ends the group.
class Running {
 public:
  explicit Running(const std::string& command)
      : child_(start_child(
            {"/bin/sh", {"sh", "-c", "exec >/dev/null\n" + command}, environment_now()})) {}
  ~Running() {
    if (!child_.status()) end();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  const std::string& last_line() const { return last_.text(); }

  void read_stderr() {
    std::array<char, 4096> bytes{};
    ssize_t got = 0;
    while ((got = ::read(child_.stderr_fd(), bytes.data(), bytes.size())) > 0)
      last_.add({bytes.data(), static_cast<std::size_t>(got)});
    if (got == 0) child_.close_stderr();
  }

  // Waits for the end of the command, something on its stderr, or a signal.
  void wait_for_news(const SignalPipe& signals) const {
    std::array<pollfd, 3> news = {
        {{signals.fd(), POLLIN, 0}, child_.end_event(), child_.stderr_event()}};
    ::poll(news.data(), news.size(), child_.poll_limit(-1));
  }

  // Returns how it ended, or nullopt if the command runs.
  std::optional<ChildStatus> status() { return child_.status(); }
  // Kills what the command left behind.
  void kill_group() const { ::kill(-child_.pid(), SIGKILL); }

 private:
  // Ends the group: SIGTERM, and SIGKILL when the command is still there after the grace.
  void end() {
    ::kill(-child_.pid(), SIGTERM);
    const double limit = monotonic_seconds() + grace;
    while (!status() && monotonic_seconds() < limit) Clock().sleep_for(0.01);
    kill_group();
    child_.wait();
  }

  Child child_;
  LastLine last_;
};

void check(const std::string& command, ChildStatus status, const std::string& last_line) {
  if (status.code == 0) return;
  if (!status.known)
    throw CommandFailed(
        fmt::format("the command {} {}", quote(command, shown_path_characters), unknown_end));
  const std::string end = status.signal != 0 ? fmt::format("was killed by signal {}", status.signal)
                                             : fmt::format("ended with exit code {}", status.code);
  throw CommandFailed(fmt::format("the command {} {}: {}", quote(command, shown_path_characters),
                                  end,
                                  last_line.empty() ? "it wrote nothing to stderr" : last_line));
}

}  // namespace

void CommandRunner::run(const std::string& command, const std::string& shown) {
  if (const int signal = signals_.next()) throw Interrupted{signal};
  Running running(command);
  while (!running.status()) {
    running.wait_for_news(signals_);
    if (const int signal = signals_.next()) throw Interrupted{signal};
    running.read_stderr();
  }
  running.kill_group();
  running.read_stderr();
  check(shown, *running.status(), running.last_line());
}

}  // namespace ccl_tests::compare
