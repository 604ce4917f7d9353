// mesh_perf: which groups of a mesh of ranks disturb each other.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "collectives/collectives.hpp"
#include "src/core/error.hpp"
#include "src/job/job.hpp"
#include "src/options/program_texts.hpp"
#include "src/options/settings.hpp"
#include "src/record/quantity_text.hpp"
#include "src/run/point.hpp"
#include "tools/mesh/arguments.hpp"
#include "tools/mesh/mesh_job.hpp"

namespace ccl_tests::mesh {
namespace {

// Throws UsageError if the job has another number of ranks than the mesh or if a pattern cannot run in
// groups of its size, Unsupported if a GPU is used.
void check_job(const Arguments& a, const Process& process, int ranks) {
  const int wanted = a.mesh.ranks();
  if (ranks != wanted)
    throw UsageError(fmt::format(
        "--mesh {}: {}, but the job has {}; use --np {}, or a launcher with {}", a.mesh.text(),
        counted(static_cast<std::uint64_t>(wanted), "rank"), ranks, wanted, wanted));
  for (const Pattern& pattern : a.patterns) {
    Options options = a.options;
    options.sweep.sizes = {pattern.bytes};
    const RankGroups groups = a.mesh.groups(pattern.dimension);
    check_groups(*pattern.collective, options, groups);
    const Shape shape = shape_of({a.type, {}, 0, pattern.bytes, &groups, 0}, options.spec, 0);
    if (pattern.collective->layout(shape).algbw_bytes == 0)
      throw UsageError(fmt::format("--do {}: no element of {} in groups of {}; use {} B or more",
                                   pattern.name, name(a.type),
                                   counted(static_cast<std::uint64_t>(shape.self.ranks), "rank"),
                                   shape.type_bytes * static_cast<std::size_t>(shape.self.ranks)));
  }
  if (process.staging.gpus != nullptr)
    throw Unsupported(fmt::format(
        "{}: communicators on GPUs that a rank drives at once may wait for each other for ever; use "
        "--backend gloo or mpi",
        process.backend.name()));
}

// Returns what all ranks must be told alike, of flags that are declared so.
std::vector<NamedValue> shared_values(const FlagSet& set) {
  std::vector<NamedValue> values = {{"the program", "mesh"}};
  for (const Flag& flag : set.all())
    if (flag.shared) values.push_back({flag.names.front(), text_of(flag.show())});
  return values;
}

int run_mesh(const Arguments& a, const std::vector<std::string>& words) {
  Arguments shown = a;
  FlagSet set;
  declare_flags(set, shown);
  JobSetup job = job_setup(collectives::all_reduce, a.options, words);
  job.program = "mesh_perf";
  job.shared = shared_values(set);
  job.communicators_per_rank = 2 * static_cast<int>(a.patterns.size());
  job.disagreement = [&](ControlChannel& channel, const NamedValue& backend) {
    const double limit_s = a.options.backend.init_timeout_s;
    std::vector<NamedValue> values = shared_values(set);
    values.push_back(backend);
    const auto why = disagreement(channel, limit_s, "settings", values);
    return why ? why : lost_files(channel, limit_s, set);
  };
  verify::PatternCache patterns;
  std::optional<MeshReport> report;  // of rank 0's process
  JobHooks hooks;
  hooks.check = [&](const Process& process, int ranks) { check_job(a, process, ranks); };
  hooks.open = [&](const Process& process) {
    if (process.launch.process == 0) report.emplace(a, a.file);
  };
  hooks.doing = [&](const std::string& what) {
    if (report) report->doing(what);
  };
  hooks.write_end = [&](const RanksEnd& end) {
    const int others = end.failure != 0 ? end.failure : end.exit_code;
    try {
      return report ? report->end(end.failure, end.errors) : others;
    } catch (const Error& e) {  // of the file
      say(job.program, e.what());
      return most_severe(others, exit_code(e.code()));
    }
  };
  const RankBody body = [&](Rank& rank) {
    return run(rank, a, patterns, report ? &*report : nullptr);
  };
  return run_job(job, body, hooks);
}

}  // namespace
}  // namespace ccl_tests::mesh

int main(int argc, char** argv) {
  using namespace ccl_tests;
  const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
  return run_main("mesh_perf", words, [&] {
    const mesh::Arguments arguments = mesh::parse(words);
    if (arguments.help) return print_page(help_of(mesh::texts(), mesh::declare_flags), words);
    return mesh::run_mesh(arguments, words);
  });
}
