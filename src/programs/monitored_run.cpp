#include "src/programs/monitored_run.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <system_error>
#include <utility>

#include "src/bootstrap/child_process.hpp"
#include "src/core/deadline.hpp"
#include "src/core/error.hpp"
#include "src/core/output_file.hpp"
#include "src/core/quote.hpp"
#include "src/core/signals.hpp"
#include "src/core/write_all.hpp"
#include "src/job/job.hpp"
#include "src/options/options.hpp"
#include "src/record/field_value.hpp"
#include "src/report/text.hpp"
#include "src/report/verdict_file.hpp"

namespace ccl_tests {
namespace {

constexpr std::string_view flag = "--exit-codes";
constexpr std::string_view launcher_flags[] = {"--launcher", "--bootstrap"};
constexpr std::string_view verdict_flag = "--verdict";

// Returns whether a word is the flag, or a beginning that tells it from others, or has "=VALUE".
bool is_flag(std::string_view word, std::string_view name) {
  constexpr std::size_t fewest = 6;  // "--exit", "--verd"
  const std::string_view beginning = word.substr(0, word.find('='));
  return beginning.size() >= fewest && name.starts_with(beginning);
}

// The values of a flag, each "--flag VALUE" or "--flag=VALUE", and the words without them.
struct FlagValues {
  std::vector<std::string> values, rest;
};

FlagValues values_of(std::string_view name, const std::vector<std::string>& words) {
  FlagValues found;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!is_flag(words[i], name))
      found.rest.push_back(words[i]);
    else if (const std::size_t equals = words[i].find('='); equals != std::string::npos)
      found.values.push_back(words[i].substr(equals + 1));
    else if (++i < words.size())
      found.values.push_back(words[i]);
  }
  return found;
}

// A file descriptor that is open as long as this object lives.
class Descriptor {
 public:
  explicit Descriptor(int value) : value_(value) {
    if (value < 0) throw std::system_error(errno, std::system_category());
  }
  ~Descriptor() {
    if (value_ >= 0) ::close(value_);
  }
  Descriptor(Descriptor&& other) noexcept : value_(std::exchange(other.value_, -1)) {}
  Descriptor& operator=(Descriptor&&) = delete;
  int get() const { return value_; }

 private:
  int value_;
};

// Appends what can be read now. Returns false at the end: nobody can write any more.
bool read_into(std::string& text, int from) {
  std::array<char, 1 << 14> bytes{};
  for (;;) {
    const ssize_t count = ::read(from, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return count < 0;
    text.append(bytes.data(), static_cast<std::size_t>(count));
  }
}

// A program that runs, with its stdout in a pipe.
struct MonitoredChild {
  Child child;
  Descriptor out;  // does not block
};

// The end of the child.
struct ChildEnd {
  int code = 0;        // 128 + N: by signal N
  std::string output;  // its stdout
  std::string errors;  // the end of its stderr
};

// Passes on what is written to stderr now, and keeps the end of it all.
void pass_on_errors(int from, std::string& kept) {
  std::string now;
  read_into(now, from);
  write_all(STDERR_FILENO, now);
  constexpr std::size_t most = 1 << 16;
  kept += now;
  if (kept.size() > most) kept.erase(0, kept.size() - most);
}

// Reads what is written after the end of the program: what it started to write its ends if it is
// killed (CrashFooter) has its stdout until that is done. Waits 1 s at most.
void await_crash_footer(int out, std::string& output) {
  const TimePoint limit = deadline_in(1);
  while (read_into(output, out) && std::chrono::steady_clock::now() < limit) {
    constexpr int look_ms = 50;
    pollfd more{out, POLLIN, 0};
    ::poll(&more, 1, look_ms);
  }
}

// Ends when the child does; its stderr and our signals are passed on.
ChildEnd wait_for(MonitoredChild monitored, const SignalPipe& signals) {
  auto& [child, out] = monitored;
  ChildEnd end;
  bool writes = true;
  for (;;) {
    const auto status = child.status();
    pass_on_errors(child.stderr_fd(), end.errors);
    writes = writes && read_into(end.output, out.get());
    if (status) {
      end.code = status->code;
      if (!status->known) end.errors += fmt::format("the program {}\n", unknown_end);
      if (writes) await_crash_footer(out.get(), end.output);
      return end;
    }
    std::array<pollfd, 4> news = {{{signals.fd(), POLLIN, 0},
                                   {writes ? out.get() : -1, POLLIN, 0},
                                   child.end_event(),
                                   child.stderr_event()}};
    ::poll(news.data(), news.size(), child.poll_limit(-1));
    while (const int signal = signals.next()) child.signal(signal);
    constexpr short ended = POLLHUP;
    if (news[3].revents == ended) child.close_stderr();
  }
}

// more: variables of its environment.
MonitoredChild start(const std::vector<std::string>& arguments, const std::string& program,
                     const std::vector<std::string>& more) {
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0)
    throw std::system_error(errno, std::system_category(), "pipe");
  Descriptor out(pipe[0]);
  const Descriptor in(pipe[1]);
  ::fcntl(out.get(), F_SETFL, O_NONBLOCK);
  ChildProgram self;
  self.path = own_path();
  self.arguments = {program};
  self.arguments.insert(self.arguments.end(), arguments.begin(), arguments.end());
  for (char** entry = environ; *entry != nullptr; ++entry) self.environment.emplace_back(*entry);
  self.environment.insert(self.environment.end(), more.begin(), more.end());
  const Descriptor before(::dup(STDOUT_FILENO));
  ::dup2(in.get(), STDOUT_FILENO);
  Child child = start_child(self);
  ::dup2(before.get(), STDOUT_FILENO);
  return {std::move(child), std::move(out)};
}

// Returns an empty record if there is none.
FieldRecord read_verdict(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  try {
    return parse_json_object(text.str());
  } catch (const Error&) {
    return {};
  }
}

// Nagios' performance data: "label=value" (Monitoring Plugins Development Guidelines).
std::string performance_data(const FieldRecord& verdict) {
  std::string text;
  for (const char* const name : {"average_busbw_gb_per_s", "peak_busbw_gb_per_s"}) {
    const FieldValue* const value = find(verdict, name);
    const double number = value != nullptr && value->is_number_float() ? value->get<double>() : 0;
    if (number > 0) text += fmt::format("{}{}={:.6g}", text.empty() ? " | " : " ", name, number);
  }
  return text;
}

// The last line of stderr, without who says it: "unknown option '--nope'; see --help".
std::string last_line(const std::string& errors, const std::string& program) {
  const std::size_t last = errors.find_last_not_of('\n');
  if (last == std::string::npos) return {};
  const std::size_t end_before = errors.rfind('\n', last);
  const std::size_t begin = end_before == std::string::npos ? 0 : end_before + 1;
  std::string line = errors.substr(begin, last + 1 - begin);
  if (const std::string said = program + ": "; line.starts_with(said)) line.erase(0, said.size());
  return line;
}

std::string status_text(const std::string& program, const ChildEnd& end) {
  if (end.code == exit_code(Exit::passed)) return "passed";
  if (end.code > 128) return fmt::format("ended by signal {}", end.code - 128);
  const std::string said = last_line(end.errors, program);
  return said.empty() ? fmt::format("exit code {}", end.code) : said;
}

std::string first_line(const std::string& program, ExitCodes codes, const ChildEnd& end,
                       const FieldRecord& verdict) {
  const FieldValue* const line = find(verdict, "line");
  const FieldValue* const code = find(verdict, "exit_code");
  const FieldValue* const ended = find(verdict, "end_time");
  // A verdict that was not finished is older than how the child ended.
  const bool known = code != nullptr && *code == end.code && ended != nullptr && !ended->is_null();
  std::string what = known && line != nullptr && line->is_string() ? line->get<std::string>() : "";
  if (what.empty()) what = program + ": " + status_text(program, end);
  const bool measured =
      end.code == exit_code(Exit::passed) || end.code == exit_code(Exit::too_slow);
  return shortened(single_line(fmt::format("{} {}", exit_status(codes, end.code).word, what)),
                   headline_bytes) +
         (codes == ExitCodes::nagios && measured ? performance_data(verdict) : "") + '\n';
}

}  // namespace

bool asks_for_text(const std::function<bool()>& prints) try {
  return prints();
} catch (const Error&) {
  return false;
}

std::optional<ExitCodes> asked_exit_codes(const std::vector<std::string>& arguments) {
  const std::vector<std::string> given = values_of(flag, arguments).values;
  if (given.empty()) return std::nullopt;
  std::vector<std::string> names;
  for (const ExitCodes codes : all_exit_codes()) {
    if (given.back() == name(codes))
      return codes == ExitCodes::native ? std::nullopt : std::optional(codes);
    names.emplace_back(name(codes));
  }
  throw UsageError(fmt::format("{}: {}", flag, unknown_name("name", given.back(), names)));
}

int run_monitored(const std::string& program, const std::vector<std::string>& arguments,
                  ExitCodes codes, FirstLine first) try {
  const std::vector<std::string> words = values_of(flag, arguments).rest;
  std::optional<ScratchFolder> folder;  // if the user has no file for the verdict
  std::vector<std::string> verdict, more;
  if (first == FirstLine::verdict) {
    verdict = values_of(verdict_flag, words).values;
    if (verdict.empty()) {
      folder.emplace("ccl-verdict-");
      verdict = {folder->file("verdict.json")};
      more.push_back(fmt::format("{}={}", monitor_verdict_variable, verdict.back()));
    }
  }
  const SignalPipe signals;
  const ChildEnd end = wait_for(start(words, program, more), signals);
  const bool says = first != FirstLine::headline || (end.output.empty() && end.code != 0);
  std::string launcher = "auto";
  for (const std::string_view name : launcher_flags)
    for (const std::string& value : values_of(name, arguments).values) launcher = value;
  if (says && is_first_process(launcher))
    fmt::print("{}", first_line(program, codes, end,
                                verdict.empty() ? FieldRecord() : read_verdict(verdict.back())));
  bool told = std::fflush(stdout) == 0;
  told = write_all(STDOUT_FILENO, end.output) == 0 && told;
  const ExitStatus status = exit_status(codes, end.code);
  if (told || status.code != exit_status(codes, exit_code(Exit::passed)).code) return status.code;
  print_error(fmt::format("{}: cannot write to standard output\n", program));
  return exit_status(codes, exit_code(Exit::inconclusive)).code;
} catch (const std::exception& e) {  // nothing was run
  const ExitStatus status = exit_status(codes, exit_code(Exit::inconclusive));
  fmt::print("{}\n",
             shortened(single_line(fmt::format("{} {}: {}", status.word, program, e.what())),
                       headline_bytes));
  return status.code;
}

}  // namespace ccl_tests
