#include "src/options/settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "src/core/quote.hpp"
#include "src/core/serialize.hpp"
#include "src/options/flags.hpp"

namespace ccl_tests {
namespace {

// A file that a rank was told to write.
struct GivenFile {
  std::string flag, name;
  std::string path;  // the same for all names of a file on one host
  bool there = false;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GivenFile, flag, name, path, there)

GivenFile given_file(const std::string& flag, const std::string& name) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path path = fs::weakly_canonical(fs::absolute(name, error), error);
  const bool there = fs::is_regular_file(path, error) && fs::file_size(path, error) > 0;
  return {flag, name, path.string(), there};
}

}  // namespace

std::vector<NamedValue> shared_settings(const Collective& collective, const Options& options) {
  const ProgramFlags flags(collective, options);
  std::vector<NamedValue> terms = {{"the program", std::string(collective.name)}};
  for (const Flag& flag : flags.set.all()) {
    if (!flag.shared || !flag.missing.empty()) continue;
    std::string value = text_of(flag.show());
    terms.push_back({flag.names.front(), value.empty() ? "not given" : std::move(value)});
  }
  return terms;
}

std::vector<Setting> recorded_settings(const Collective& collective, const Options& options) {
  const ProgramFlags flags(collective, options);
  std::vector<Setting> settings;
  for (const Flag& flag : flags.set.all())
    if (!flag.recorded.empty() && flag.missing.empty())
      settings.push_back({flag.recorded, flag.show()});
  return settings;
}

std::vector<Setting> unusual_settings(const Collective& collective, const Options& options) {
  static const std::set<std::string_view> other = {
      // in the row, the mode, or a label of the run's own
      "min_bytes", "max_bytes", "step_factor", "step_bytes", "sizes", "types", "ops", "roots",
      "pairs", "group_rows", "form", "label", "skew", "objects", "tensors", "bucket_mib",
      "no_async", "routing", "experts", "top_k", "hidden", "via", "cpu_time", "bidirectional",
      // how often, how precisely, how long
      "iterations", "warmup", "precision", "time_budget_s", "passes", "row_time_s", "cycles",
      "duration_s", "placements", "per_iteration", "per_iteration_skip", "check", "inject", "seed",
      "timeout_s", "init_timeout_s",
      // where it runs, which has fields of its own, and what is made of the results
      "threads", "ranks_per_thread", "local_processes", "launcher_choice", "backend_choice",
      "library_choice", "shared_dir", "parallel_init", "expect_gpus", "first_device",
      "memory_report", "show_algorithm", "timestamps", "min_busbw", "max_time", "baseline",
      "tolerance", "ceiling", "min_average_busbw"};
  const std::vector<Setting> given = recorded_settings(collective, options);
  const std::vector<Setting> usual =
      recorded_settings(collective, ProgramFlags(collective).options);
  std::vector<Setting> unusual;
  for (const Setting& setting : given)
    if (!other.contains(setting.name) && std::ranges::find(usual, setting) == usual.end())
      unusual.push_back(setting);
  return unusual;
}

std::optional<std::string> lost_files(ControlChannel& channel, double limit_s, const FlagSet& set) {
  std::vector<GivenFile> mine;
  for (const Flag& flag : set.all())
    if (flag.file_use == FileUse::written && flag.missing.empty())
      for (const std::string& name : flag.written())
        mine.push_back(given_file(flag.names.front(), name));
  std::vector<std::vector<GivenFile>> all;
  for (const std::string& rank : channel.all_gather(to_bytes(mine), limit_s))
    all.push_back(from_bytes<std::vector<GivenFile>>(rank));

  std::set<std::string> flags, files;  // of rank 0
  for (const GivenFile& file : all.front()) {
    flags.insert(file.flag);
    files.insert({file.name, file.path});
  }
  const GivenFile* lost = nullptr;
  std::vector<std::size_t> ranks;
  for (std::size_t rank = 1; rank < all.size(); ++rank)
    for (const GivenFile& file : all[rank]) {
      const bool is_written = files.contains(file.name) || files.contains(file.path);
      if (flags.contains(file.flag) && (is_written || !file.there)) continue;
      if (lost == nullptr) lost = &file;
      if (file.flag == lost->flag && (ranks.empty() || ranks.back() != rank)) ranks.push_back(rank);
    }
  if (lost == nullptr) return std::nullopt;
  if (!flags.contains(lost->flag))
    return fmt::format(
        "{0}: rank {1} was given {2} and rank 0 was not, so that nobody would write the file; accepted: "
        "{0} on all ranks or on rank 0",
        lost->flag, fmt::join(ranks, ","), quote(lost->name));
  return fmt::format(
      "{0}: rank {1} was given {2}, which is of an earlier run and which rank 0, who writes, was not given; "
      "accepted: the name that rank 0 has, or that of a new file",
      lost->flag, fmt::join(ranks, ","), quote(lost->name));
}

std::optional<std::string> settings_disagreement(ControlChannel& channel,
                                                 const Collective& collective,
                                                 const Options& options, NamedValue more) {
  std::vector<NamedValue> settings = shared_settings(collective, options);
  settings.push_back(std::move(more));
  if (auto why = disagreement(channel, options.backend.init_timeout_s, "settings", settings))
    return why;
  return lost_files(channel, options.backend.init_timeout_s, ProgramFlags(collective, options).set);
}

JobSetup job_setup(const Collective& collective, const Options& o,
                   const std::vector<std::string>& arguments) {
  JobSetup job;
  static_cast<JobOptions&>(job) = o.job;
  static_cast<GpuOptions&>(job) = o.gpu;
  job.program = fmt::format("{}_perf", collective.name);
  job.arguments = arguments;
  job.shared = shared_settings(collective, o);
  job.backend_options = o.backend;
  job.backend_options.peers = collective.domain.peers;
  if (collective.needs.host_memory)
    job.host_memory_only =
        fmt::format("{} works on host memory, which is copied for a library on GPUs", job.program);
  job.gpu_flags = gpu_flags(o);
  job.communicators_per_rank = o.sweep.grouping.splits() ? 2 : 1;  // in a group, in the world
  job.disagreement = [&collective, &o](ControlChannel& channel, const NamedValue& backend) {
    return settings_disagreement(channel, collective, o, backend);
  };
  return job;
}

}  // namespace ccl_tests
