#include "tools/compare/live.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "src/core/clock.hpp"
#include "src/core/error.hpp"
#include "src/core/output_file.hpp"
#include "src/core/quote.hpp"
#include "src/core/write_all.hpp"
#include "src/devices/core_to_core.hpp"
#include "tools/compare/command.hpp"
#include "tools/compare/comparable.hpp"

namespace ccl_tests::compare {
namespace {

// One side's command, again and again.
class Sides {
 public:
  explicit Sides(const Commands& commands) : commands_(commands) {}

  RunTimes run(Side side, const std::set<std::size_t>& sizes) {
    const std::string& command = side == Side::base ? commands_.base : commands_.head;
    const std::string file = folder_.file(fmt::format("{}.jsonl", ++runs_));
    const bool own_sizes = chooses_sizes(commands_.base) || chooses_sizes(commands_.head);
    const char* const name = side == Side::base ? "base" : "head";
    try {
      runner_.run(with_flags(command, file, own_sizes ? std::set<std::size_t>() : sizes), command);
    } catch (const CommandFailed&) {
      // Whatever code a launcher made of it.
      if (auto run = found_before_it_failed(command, file)) check_right({name, std::move(*run)});
      throw;
    }
    NamedRun now{name, read(command, file)};
    check_right(now);
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
    std::optional<NamedRun>& first = side == Side::base ? base_ : head_;
    RunTimes times = times_of(now.run, judged_by(now.run.info));
    if (!first) {
      first = std::move(now);
      if (base_ && head_) {
        check_comparable(*base_, *head_);
        check_same_number(*base_, *head_);
      }
    }
    return times;
  }

  std::string program() const { return base_->run.info.program; }
  std::vector<std::string> notes() const { return differences(*base_, *head_); }
  JudgedBy by() const { return judged_by(base_->run.info); }

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
  ScratchFolder folder_{"ccl-compare-"};
  CommandRunner runner_;
  std::size_t runs_ = 0;
  std::optional<NamedRun> base_, head_;  // the first run of each
};

// A line on stderr: for each pair on a terminal, elsewhere at most every 10 s.
class Progress {
 public:
  void operator()(const char* part, std::size_t done, std::size_t wanted) {
    const double now = monotonic_seconds();
    if (::isatty(STDERR_FILENO) == 0 && now - last_ < 10) return;
    last_ = now;
    print_error(fmt::format("ccl_compare: {}: {} of {} pairs\n", part, done, wanted));
  }

 private:
  double last_ = monotonic_seconds();
};

}  // namespace

Report compare_commands(const Commands& commands, const Plan& plan) {
  Sides sides(commands);
  Progress progress;
  Machine machine;
  machine.run = [&](Side side, const std::set<std::size_t>& sizes) {
    return sides.run(side, sizes);
  };
  if (commands.probe) machine.probe = [] { return core_to_core(); };
  if (plan.time_budget_s > 0)
    machine.out_of_time = [end = monotonic_seconds() + plan.time_budget_s] {
      return monotonic_seconds() >= end;
    };
  machine.progress = [&](const char* part, std::size_t done, std::size_t wanted) {
    progress(part, done, wanted);
  };
  Report report;
  report.base = commands.base;
  report.head = commands.head;
  report.aa = commands.aa;
  report.interleaved = true;
  report.threshold = plan.threshold;
  report.comparison = compare_interleaved(machine, plan);
  report.program = sides.program();
  report.notes = sides.notes();
  report.by = sides.by();
  return report;
}

}  // namespace ccl_tests::compare
