#include "tools/replay/arguments.hpp"

#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "src/bootstrap/launch.hpp"
#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/options/command_line.hpp"
#include "src/options/flags.hpp"
#include "src/options/values.hpp"
#include "src/record/quantity_text.hpp"
#include "tools/replay/trace.hpp"

namespace ccl_tests::replay {
namespace {

constexpr std::string_view placeholder = "{rank}";

std::string with_rank(std::string pattern, int rank) {
  for (std::size_t at = 0; (at = pattern.find(placeholder, at)) != std::string::npos;)
    pattern.replace(at, placeholder.size(), std::to_string(rank));
  return pattern;
}

// Sorts traces by rank if all are of one communicator of all.
void sort_by_rank(std::vector<TracePlace>& places) {
  std::set<int> ranks;
  for (const TracePlace& place : places)
    if (place.world_rank >= 0 && place.world == places.front().world)
      ranks.insert(place.world_rank);
  if (ranks.size() != places.size()) return;
  std::sort(places.begin(), places.end(), [](const TracePlace& one, const TracePlace& other) {
    return one.world_rank < other.world_rank;
  });
}

bool is_there(const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(path, error);
}

// The files that a shell's pattern names, as numbers in their names count.
std::vector<std::string> matching(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> files;
  if (::glob(pattern.c_str(), 0, nullptr, &found) == 0)
    files.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  sort_by_number(files);
  return files;
}

// The files that are here of ranks 0, 1, ... Empty for a rank without one before one that has one.
std::vector<std::string> ranks_files(const std::string& pattern) {
  constexpr std::size_t longest_gap = 1024;
  std::vector<std::string> files;
  for (std::size_t rank = 0; rank < files.size() + longest_gap; ++rank)
    if (std::string file = with_rank(pattern, static_cast<int>(rank)); is_there(file)) {
      files.resize(rank + 1);
      files.back() = std::move(file);
    }
  return files;
}

}  // namespace

void declare_flags(FlagSet& set, Arguments& a) {
  set.begin(Group::what);
  set.add(a.trace, "--trace", "FILE",
          "read the trace of each rank from FILE, in which {rank} stands for its number, or all "
          "from one log or archive; PyTorch's execution trace or flight recorder, NCCL Inspector's "
          "JSON or a log of NCCL_DEBUG=INFO, also compressed by gzip",
          parse_file, {.file_use = FileUse::read});
  set.add(
      a.sorted, "--sorted", "",
      "take FILE as a pattern such as 'log.*', whose files are those of rank 0, 1, ... in the order "
      "of their names, numbers by value",
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
  declare_inject(set, a.options.job);
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
  return {.name = "ccl_replay",
          .about = "makes the calls that a job's traces show, with verified data",
          .operands = {},
          .examples = {{"ccl_replay --trace 'et.{rank}.json' --list", "what is in the traces?"},
                       {"ccl_replay --np 4 --backend gloo --trace 'et.{rank}.json'", "replay them"},
                       {"ccl_replay --trace job.log --list", "all ranks' lines of NCCL in one log"},
                       {"mpirun -n 2 ccl_replay --backend mpi --ranks 2 --trace 'fr.{rank}.json'",
                        "on fewer ranks"}},
          .exits = exits};
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
        "--trace is not given; accepted: a file name with {rank}, as 'et.{rank}.json', or one file of all ranks");
  return a;
}

std::vector<TracePlace> trace_places(const Arguments& a) {
  const bool numbered = a.trace.find(placeholder) != std::string::npos;
  const std::vector<std::string> files = a.sorted   ? matching(a.trace)
                                         : numbered ? ranks_files(a.trace)
                                                    : std::vector{a.trace};
  if (files.empty() || files.front().empty()) return {place_of(a, {}, 0)};
  std::vector<TracePlace> places = traces_in(files.front());
  const bool several = places.size() > 1;
  if (!several) places.front() = {files.front()};
  for (std::size_t k = 1; k < files.size(); ++k) {
    if (several && files[k].empty())
      place_of(a, {}, static_cast<int>(k));  // says that it is missing
    const auto more = several ? traces_in(files[k]) : std::vector<TracePlace>{{files[k]}};
    places.insert(places.end(), more.begin(), more.end());
  }
  if (several) sort_by_rank(places);
  return places;
}

TracePlace place_of(const Arguments& a, const std::vector<TracePlace>& places, int rank) {
  const auto at = static_cast<std::size_t>(rank);
  if (at < places.size() && !places[at].file.empty()) return places[at];
  const std::string file = with_rank(a.trace, rank);
  const std::string what = fmt::format("--trace: rank {} has no ", rank);
  if (a.sorted || file == a.trace)
    throw UsageError(
        fmt::format("{}{}: {} has those of {}", what, a.sorted ? "file" : "trace",
                    quote(a.trace, shown_path_characters), counted(places.size(), "rank")) +
        (a.sorted
             ? ""
             : "; accepted: {rank} in the name, --sorted with a pattern, a file of all ranks"));
  if (is_there(file)) return {file};
  throw UsageError(fmt::format(
      "{}file: there is no {}{}", what, quote(file, shown_path_characters),
      at < places.size() ? fmt::format(", and there is one of rank {}", places.size() - 1) : ""));
}

}  // namespace ccl_tests::replay
