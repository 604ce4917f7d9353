#include "tools/acceptance/acceptance_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <system_error>

#include "collectives/collectives.hpp"
#include "src/core/error.hpp"
#include "src/core/write_all.hpp"
#include "src/options/settings.hpp"
#include "tools/acceptance/report/html.hpp"
#include "tools/acceptance/report/junit.hpp"
#include "tools/acceptance/report/terminal.hpp"
#include "tools/acceptance/run.hpp"

namespace ccl_tests::acceptance {
namespace {

void write_file(const std::string& path, const std::string& text) {
  if (path.empty()) return;
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << text;
  if (!out.flush()) throw Error(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

// What cannot be written is said, and does not keep the rest from being written.
bool write_all(const Arguments& a, const Record& record) {
  bool all = true;
  const auto write = [&](const std::string& path, const std::function<std::string()>& text) {
    try {
      write_file(path, text());
    } catch (const Error& e) {
      say("ccl_acceptance", e.what());
      all = false;
    }
  };
  write(a.report, [&] { return html_page(record); });
  write(a.junit, [&] { return junit_text(record); });
  write(a.hosts_out, [&] { return hosts_text(record.excluded, a.hosts_format); });
  return all;
}

// Throws UsageError.
void open_file(const std::string& path, std::ios::openmode mode) {
  if (!path.empty() && !std::ofstream(path, mode))
    throw UsageError(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
}

bool has_verdict(const std::string& path) {
  std::error_code none;
  return std::filesystem::is_regular_file(path, none) && std::filesystem::file_size(path, none) > 0;
}

bool is_same(const std::string& path, const std::string& other) {
  std::error_code none;
  return std::filesystem::equivalent(path, other, none);
}

}  // namespace

int run_acceptance(const Arguments& a, const Plan& plan, const std::vector<std::string>& words,
                   verify::PatternCache& patterns, const RunJob& run_job, const HostProbe& host) {
  JobSetup job = job_setup(collectives::all_reduce, a.options, words);
  job.program = "ccl_acceptance";
  job.communicators_per_rank = 2;  // of all ranks, and of a group
  std::unique_ptr<Journal> journal;
  bool leads = false;  // this process has rank 0
  JobHooks hooks;
  hooks.open = [&](const Process& process) {
    leads = process.launch.process == 0;
    if (!leads) {
      journal = std::make_unique<Journal>("", [](const std::string& /*line*/) {});
      return;
    }
    journal = std::make_unique<Journal>(
        a.verdict, [](const std::string& line) { print_error(fmt::format("# {}\n", line)); });
    // What cannot be written to is found now, not at the end.
    open_file(a.verdict, std::ios::app);
    for (const std::string& path : {a.report, a.junit, a.hosts_out})
      open_file(path, std::ios::trunc);
    // Nobody must take what an earlier run has left for this one's. What this run still has to read stays until then.
    if (has_verdict(a.verdict) && !is_same(a.verdict, a.resume) && !is_same(a.verdict, a.baseline))
      journal->mark_unfinished();
  };
  job.disagreement = [&a, settings = job.disagreement](ControlChannel& channel,
                                                       const NamedValue& backend) {
    if (auto why = settings(channel, backend)) return why;
    Arguments given = a;
    FlagSet flags;
    declare_flags(flags, given);
    return lost_files(channel, a.options.backend.init_timeout_s, flags);
  };
  hooks.write_end = [&](const RanksEnd& end) {
    const bool stands_in =
        end.lost_process_0 && std::find(end.gone.begin(), end.gone.end(), 0) != end.gone.end();
    if (!journal || !(leads || (stands_in && journal->begun())))
      return end.failure != 0 ? end.failure : end.exit_code;
    // Nothing was run: that says nothing of any host.
    const bool refused =
        end.failure == exit_code(Exit::usage) || end.failure == exit_code(Exit::unsupported);
    if (refused && !journal->measures()) return end.failure;
    const Record record = journal->end(end);
    const std::string text = terminal_text(record, {.file = a.verdict});
    const bool told = std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0;
    if (!told)
      say(job.program, fmt::format("cannot write the verdict to stdout: {}", std::strerror(errno)));
    if (!journal->unwritten().empty()) say(job.program, journal->unwritten());
    const bool written = !leads || (write_all(a, record) && journal->unwritten().empty());
    const bool interrupted = end.failure > 128;  // by a signal
    if (interrupted) return end.failure;
    if (end.failure != 0) return most_severe(end.failure, exit_code_of(record));
    return told && written ? end.exit_code : most_severe(end.exit_code, exit_code(Exit::failed));
  };
  const RankBody body = [&](Rank& rank) {
    return run(rank, a, plan, patterns, journal.get(), host);
  };
  return run_job(job, body, hooks);
}

}  // namespace ccl_tests::acceptance
