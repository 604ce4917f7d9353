#include "src/monitored_run.hpp"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <system_error>

#include "src/bootstrap/child_process.hpp"
#include "src/bootstrap/launch.hpp"
#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/core/signals.hpp"
#include "src/report/field_json.hpp"
#include "src/report/headline.hpp"

namespace ccl_tests {
namespace {

constexpr std::string_view flag = "--exit-codes";
constexpr std::string_view verdict_flag = "--verdict";

// The values of a flag, each "--flag VALUE" or "--flag=VALUE".
std::vector<std::string> values_of(std::string_view name, const std::vector<std::string>& words) {
  std::vector<std::string> values;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == name && i + 1 < words.size()) values.push_back(words[i + 1]);
    if (words[i].starts_with(std::string(name) + '='))
      values.push_back(words[i].substr(name.size() + 1));
  }
  return values;
}

std::vector<std::string> without(std::string_view name, const std::vector<std::string>& words) {
  std::vector<std::string> rest;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == name) {
      ++i;
    } else if (!words[i].starts_with(std::string(name) + '=')) {
      rest.push_back(words[i]);
    }
  }
  return rest;
}

// What a file descriptor that is open in this process stands for, as long as it lives.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {
    if (value < 0) throw std::system_error(errno, std::system_category());
  }
  ~Descriptor() { ::close(value_); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return value_; }

 private:
  int value_;
};

// A file for the verdict, unless the user has one.
class VerdictPath {
 public:
  explicit VerdictPath(const std::vector<std::string>& arguments) {
    const std::vector<std::string> named = values_of(verdict_flag, arguments);
    if (!named.empty()) {
      path_ = named.back();
      return;
    }
    const char* const folder = std::getenv("TMPDIR");
    path_ = fmt::format("{}/ccl-verdict-XXXXXX", folder != nullptr ? folder : "/tmp");
    const Descriptor file(::mkstemp(path_.data()));
    ours_ = true;
  }
  ~VerdictPath() {
    if (ours_) ::unlink(path_.c_str());
  }
  VerdictPath(const VerdictPath&) = delete;
  VerdictPath& operator=(const VerdictPath&) = delete;
  const std::string& path() const { return path_; }
  bool ours() const { return ours_; }

 private:
  std::string path_;
  bool ours_ = false;
};

void pass_on(int from, int to) {
  std::array<char, 1 << 14> bytes{};
  for (;;) {
    const ssize_t count = ::read(from, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;
    for (ssize_t at = 0; at < count;) {
      const ssize_t written = ::write(to, bytes.data() + at, static_cast<std::size_t>(count - at));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;  // nobody reads it any more
      at += written;
    }
  }
}

// Ends when the child does; its stderr and our signals are passed on. Returns the exit code, or 128 + the
// signal that ended it.
int wait_for(const Child& child) {
  const Descriptor errors(child.stderr_fd);
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGCHLD);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP})
    if (!is_ignored(signal)) sigaddset(&signals, signal);
  ::pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  for (;;) {
    pass_on(errors.get(), STDERR_FILENO);
    int status = 0;
    if (::waitpid(child.pid, &status, WNOHANG) == child.pid) {
      pass_on(errors.get(), STDERR_FILENO);
      return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    constexpr timespec moment = {.tv_sec = 0, .tv_nsec = 50'000'000};
    const int signal = ::sigtimedwait(&signals, nullptr, &moment);
    if (signal > 0 && signal != SIGCHLD) ::kill(child.pid, signal);
  }
}

Child start_with_stdout(const std::vector<std::string>& arguments, const std::string& program,
                        int out) {
  ChildProgram self;
  std::array<char, PATH_MAX> path{};
  if (::readlink("/proc/self/exe", path.data(), path.size() - 1) <= 0)
    throw std::system_error(errno, std::system_category(), "/proc/self/exe");
  self.path = path.data();
  self.arguments = {program};
  self.arguments.insert(self.arguments.end(), arguments.begin(), arguments.end());
  for (char** entry = environ; *entry != nullptr; ++entry) self.environment.emplace_back(*entry);
  const Descriptor before(::dup(STDOUT_FILENO));
  ::dup2(out, STDOUT_FILENO);
  const Child child = start_child(self);
  ::dup2(before.get(), STDOUT_FILENO);
  return child;
}

// Other processes of a launcher's job say nothing.
bool is_first_process() {
  try {
    return detect_launch(process_environment()).process == 0;
  } catch (const Error&) {
    return true;  // the child has said what is wrong
  }
}

// nullopt: there is none.
std::optional<FieldRecord> read_verdict(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  try {
    return parse_json_object(text.str());
  } catch (const Error&) {
    return std::nullopt;
  }
}

const FieldValue* find(const FieldRecord& record, std::string_view name) {
  const auto found = std::find_if(record.begin(), record.end(),
                                  [&](const Field& field) { return field.name == name; });
  return found == record.end() ? nullptr : &found->value;
}

std::string line_of(const FieldRecord& verdict) {
  const FieldValue* const line = find(verdict, "line");
  const auto* const text = line != nullptr ? std::get_if<std::string>(line) : nullptr;
  return text != nullptr ? *text : std::string();
}

// Nagios' performance data: "label=value" (Monitoring Plugins Development Guidelines).
std::string performance_data(const FieldRecord& verdict) {
  std::string text;
  for (const char* const name : {"average_busbw_gb_per_s", "peak_busbw_gb_per_s"}) {
    const FieldValue* const value = find(verdict, name);
    const auto* const number = value != nullptr ? std::get_if<double>(value) : nullptr;
    if (number != nullptr)
      text += fmt::format("{}{}={:.6g}", text.empty() ? " | " : " ", name, *number);
  }
  return text;
}

std::string status_text(int native) {
  if (native == exit_code(Exit::passed)) return "passed";
  return native > 128 ? fmt::format("ended by signal {}, see stderr", native - 128)
                      : fmt::format("exit code {}, see stderr", native);
}

std::string first_line(const std::string& program, ExitCodes codes, int native,
                       const std::optional<FieldRecord>& verdict) {
  std::string what = verdict ? line_of(*verdict) : std::string();
  // A verdict that was not finished is older than how the child ended.
  const FieldValue* const code = verdict ? find(*verdict, "exit_code") : nullptr;
  const auto* const known = code != nullptr ? std::get_if<std::uint64_t>(code) : nullptr;
  if (what.empty() || known == nullptr || *known != static_cast<std::uint64_t>(native))
    what = program + ": " + status_text(native);
  return cut(fmt::format("{} {}", exit_status(codes, native).word, what), headline_bytes) +
         (codes == ExitCodes::nagios && verdict ? performance_data(*verdict) : "") + '\n';
}

}  // namespace

std::optional<ExitCodes> asked_exit_codes(const std::vector<std::string>& arguments) {
  const std::vector<std::string> given = values_of(flag, arguments);
  if (given.empty()) return std::nullopt;
  for (const ExitCodes codes : all_exit_codes()) {
    if (given.back() != name(codes)) continue;
    return codes == ExitCodes::native ? std::nullopt : std::optional(codes);
  }
  throw UsageError(fmt::format("{}: unknown name {}; accepted: native, nagios, npd, aicr", flag,
                               quote(given.back())));
}

int run_monitored(const std::string& program, const std::vector<std::string>& arguments,
                  ExitCodes codes, FirstLine first) {
  std::vector<std::string> words = without(flag, arguments);
  std::optional<VerdictPath> verdict;
  if (first == FirstLine::verdict) {
    verdict.emplace(words);
    if (verdict->ours()) words.insert(words.end(), {std::string(verdict_flag), verdict->path()});
  }
  const Descriptor out(::memfd_create("stdout", MFD_CLOEXEC));
  const int native = wait_for(start_with_stdout(words, program, out.get()));
  if (first != FirstLine::headline && is_first_process())
    fmt::print("{}", first_line(program, codes, native,
                                verdict ? read_verdict(verdict->path()) : std::nullopt));
  std::fflush(stdout);
  ::lseek(out.get(), 0, SEEK_SET);
  pass_on(out.get(), STDOUT_FILENO);
  return exit_status(codes, native).code;
}

}  // namespace ccl_tests
