#include "tools/replay/arguments.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>

#include "src/bootstrap/launch.hpp"
#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/options/command_line.hpp"
#include "src/options/flags.hpp"
#include "src/options/values.hpp"

namespace ccl_tests::replay {
namespace {

constexpr std::string_view placeholder = "{rank}";

std::string with_rank(std::string pattern, int rank) {
  for (std::size_t at = 0; (at = pattern.find(placeholder, at)) != std::string::npos;)
    pattern.replace(at, placeholder.size(), std::to_string(rank));
  return pattern;
}

bool is_there(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// The files that a shell's pattern names, in the order of their names.
std::vector<std::string> matching(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> files;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  return files;
}

}  // namespace

void declare_flags(FlagSet& set, Arguments& a) {
  set.begin(Group::what);
  set.add(a.trace, "--trace", "FILE",
          "read the trace of each rank from FILE, in which {rank} stands for its number; PyTorch's "
          "execution trace or flight recorder, NCCL Inspector's JSON or a log of NCCL_DEBUG=INFO",
          parse_file, {.file_use = FileUse::read});
  set.add(a.sorted, "--sorted", "",
          "take FILE as a pattern such as 'log.*', whose files are those of rank 0, 1, ... by name",
          zero_or_one());
  set.add(a.ranks, "--ranks", "N", "replay on N ranks: the first N of more that were traced",
          in_range(1, 1 << 20), {.by_default = "all"});
  set.add(a.timing, "--timing", "NAME",
          "tight: each call follows the one before; original: none begins before its time in the "
          "trace, with gaps of at most 30 s",
          name_of<Timing>({Timing::tight, Timing::original}));
  set.add(a.max_calls, "--max-calls", "N", "read the first N calls of a rank, drop the others",
          in_range(1, 1 << 28));
  set.add(a.list, "--list", "", "print what would be replayed, without ranks, then exit",
          zero_or_one());
  set.begin(Group::checking);
  set.add(a.options.check.seed, "--seed", "N", "seed of the data", in_range(0, 1 << 30));
  set.add_custom(
      "--inject", "FAULT", "spoil results on purpose, as in all_reduce_perf --help-all",
      [&a](const std::string& text) { a.options.job.inject = parse_fault(text); },
      [] { return SettingValue(); }, {.by_default = "off"});
  set.begin(Group::measuring);
  set.add(a.passes, "-n,--iters", "N", "replay N times after the verified pass; means count",
          in_range(1, 1 << 20));
  declare_job(set, a.options);
  declare_library(set, a.options);
  AcceptedFlags taken;
  taken.sweep = "has no rows";
  declare_gpus(set, a.options, taken);
  set.begin(Group::output);
  set.add(a.help, "-h,--help", "", "print this help", zero_or_one());
}

ProgramTexts texts() {
  static constexpr ExitText exits[] = {
      {"0", "all calls were replayed with right data"},
      {"2", "usage; --timing original and the traces have no times"},
      {"3", "unsupported here"},
      {"4", "a trace cannot be read, a library or a peer failed"},
      {"5", "timed out"},
      {"7", "wrong data"},
      {"8",
       "not the whole job: ranks' traces disagree (nothing was replayed), or calls were dropped"}};
  return {
      .name = "ccl_replay",
      .about = "makes the calls that a job's traces show, with verified data",
      .operands = {},
      .examples = {{"ccl_replay --trace 'et.{rank}.json' --list", "what is in the traces?"},
                   {"ccl_replay --np 4 --backend gloo --trace 'et.{rank}.json'", "replay them"},
                   {"mpirun -n 2 ccl_replay --backend mpi --ranks 2 --trace 'fr.{rank}.json'",
                    "on fewer ranks"}},
      .exits = exits,
      .description =
          {("First every call is made once with data that are compared. Then the calls are made "
            "in the order of the trace, on the clock. Each is complete before the next one; "
            "messages that follow each other in a group are transferred together."),
           ("With --ranks N a group keeps the members below N. What each rank contributes keeps "
            "its size, so that results of all_gather and inputs of reduce_scatter shrink with the "
            "group. A root that is not there becomes group rank 0, and messages to ranks that are "
            "not there are dropped."),
           ("A call is dropped if it cannot be replayed, which gives exit code 8. Calls that a "
            "part of the traces does not have, since a recorder keeps the last ones or samples, "
            "are left out and counted."),
           ("Execution traces of Gloo do not say in which group a call is made: with several "
            "groups take the flight recorder. The pickle that PyTorch writes is converted by "
            "python3 -c 'import json,pickle,sys; "
            "json.dump(pickle.load(sys.stdin.buffer),sys.stdout)' <FILE >FILE.json"),
           ("Memory: 64 MB a rank at most beside the buffers, whatever the size of the files; more if "
            "--max-calls is raised.")},
      .output = {},
      .related = {"all_reduce_perf", "ccl_selftest"}};
}

Arguments parse(const std::vector<std::string>& words) {
  Arguments a;
  FlagSet set;
  declare_flags(set, a);
  a.help = !read_flags(set, read_command_line(set, words), "ccl_replay");
  if (a.help) return a;
  read_variables(set, process_environment());
  if (a.trace.empty())
    throw UsageError(
        "--trace is not given; accepted: a file name with {rank}, as 'et.{rank}.json'");
  if (!a.sorted && a.trace.find(placeholder) == std::string::npos && a.ranks != 1)
    throw UsageError(
        fmt::format("--trace: {} has no {{rank}}; accepted: a name with {{rank}}, "
                    "--sorted with a pattern, --ranks 1 with one file",
                    quote(a.trace, shown_path_characters)));
  return a;
}

std::string trace_file(const Arguments& a, int rank) {
  if (a.sorted) {
    const std::vector<std::string> files = matching(a.trace);
    if (static_cast<std::size_t>(rank) < files.size()) return files[static_cast<std::size_t>(rank)];
    throw UsageError(fmt::format("--trace: rank {} has no file: {} names {}", rank,
                                 quote(a.trace, shown_path_characters), files.size()));
  }
  std::string file = with_rank(a.trace, rank);
  if (is_there(file)) return file;
  throw UsageError(fmt::format("--trace: rank {} has no file: there is no {}", rank,
                               quote(file, shown_path_characters)));
}

int trace_files(const Arguments& a) {
  int files = 0;
  if (a.sorted) {
    files = static_cast<int>(matching(a.trace).size());
  } else if (with_rank(a.trace, 0) == a.trace) {
    return 1;
  } else {
    while (is_there(with_rank(a.trace, files))) ++files;
  }
  if (files == 0) trace_file(a, 0);
  return files;
}

}  // namespace ccl_tests::replay
