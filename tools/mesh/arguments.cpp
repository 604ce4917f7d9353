#include "tools/mesh/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "collectives/collectives.hpp"
#include "src/bootstrap/launch.hpp"
#include "src/core/error.hpp"
#include "src/core/output_file.hpp"
#include "src/core/quote.hpp"
#include "src/inject/fault.hpp"
#include "src/options/command_line.hpp"
#include "src/options/flags.hpp"
#include "src/options/values.hpp"

namespace ccl_tests::mesh {
namespace {

// Returns the programs that move a row's buffers within a group.
std::vector<const Collective*> programs() {
  std::vector<const Collective*> all;
  for (const Collective* collective : collectives::all()) {
    const Needs& needs = collective->needs;
    if (!collective->domain.paired && !needs.synchronizes && !needs.own_buffers &&
        !needs.agreement && !collective->domain.fixed_bytes)
      all.push_back(collective);
  }
  return all;
}

Pattern parse_pattern(const std::string& text) {
  const std::size_t first = text.find(':');
  const std::size_t second = first == std::string::npos ? first : text.find(':', first + 1);
  if (second == std::string::npos)
    throw UsageError(quote(text) + " is not DIMENSION:COLLECTIVE:SIZE; accepted: tp:all_reduce:1M");
  const std::vector<const Collective*> known = programs();
  std::vector<std::string> names;
  for (const Collective* collective : known) names.emplace_back(collective->name);
  const std::string name = parse_name(text.substr(first + 1, second - first - 1), names);
  const auto at = std::ranges::find(names, name) - names.begin();
  const std::size_t bytes = parse_size(text.substr(second + 1));
  if (bytes == 0) throw UsageError(quote(text) + " moves nothing; accepted: 1 B and above");
  return {text, text.substr(0, first), known[static_cast<std::size_t>(at)], bytes};
}

double turn_time(const std::string& text) {
  try {
    if (const double seconds = parse_number(text, 0); seconds > 0 && seconds <= longest_turn_s)
      return seconds;
  } catch (const UsageError&) {  // said below
  }
  throw UsageError(fmt::format("{} is not accepted; accepted: a number above 0, up to {}",
                               quote(text), longest_turn_s));
}

std::string file_name(const std::string& text) {
  if (const std::string advice = piping_advice(text); !advice.empty())
    throw UsageError(fmt::format("{}: {}", quote(text), advice));
  if (!text.ends_with(".jsonl"))
    throw UsageError(quote(text) + ": mesh_perf writes .jsonl files only");
  return text;
}

void check(const Arguments& a) {
  if (a.mesh.dimensions.empty()) throw UsageError("--mesh is not given; use --mesh dp=2,tp=2");
  if (a.patterns.empty()) throw UsageError("--do is not given; use --do tp:all_reduce:1M");
  const auto takes = [](auto some, auto value) {
    return some.empty() || std::ranges::find(some, value) != some.end();
  };
  if (const auto& fault = a.options.job.inject) {
    if (a.options.check.calls == 0)
      throw UsageError("--inject: -c 0 verifies nothing; accepted: with -c 1 and above");
    const auto has_size = [&](const Pattern& p) {
      return fault->at_bytes.value_or(p.bytes) == p.bytes;
    };
    if (std::ranges::none_of(a.patterns, has_size))
      throw UsageError(
          fmt::format("--inject: no pattern has {} B; accepted: a size of --do", *fault->at_bytes));
  }
  for (const Pattern& pattern : a.patterns) {
    static_cast<void>(a.mesh.groups(pattern.dimension));
    const Domain& domain = pattern.collective->domain;
    if (!takes(domain.types, a.type))
      throw UsageError(
          fmt::format("-d {}: {} does not take the type", name(a.type), pattern.collective->name));
    if (!domain.reduces) continue;
    const auto ops = ops_of(a.type);
    if (!takes(domain.ops, a.op) || std::ranges::find(ops, a.op) == ops.end())
      throw UsageError(fmt::format("-o {}: {} on {} does not take the operation", name(a.op),
                                   pattern.collective->name, name(a.type)));
  }
}

}  // namespace

std::vector<Pattern> parse_patterns(const std::string& list) {
  std::vector<Pattern> patterns;
  for (const std::string& item : split_list(list)) {
    Pattern pattern = parse_pattern(item);
    if (std::ranges::find(patterns, pattern.name, &Pattern::name) != patterns.end())
      throw UsageError(quote(item) + " is named twice; accepted: each pattern once");
    patterns.push_back(std::move(pattern));
  }
  return patterns;
}

void declare_flags(FlagSet& set, Arguments& a) {
  a.options.backend.several_threads = true;  // each pattern's communicator has a thread
  set.begin(Group::what);
  set.add_custom(
      "--mesh", "DIMS",
      "dimensions and their ranks, NAME=RANKS, a comma list; the product is the job's ranks",
      [&a](const std::string& text) { a.mesh.dimensions = parse_mesh(text).dimensions; },
      [&a] { return setting_of(a.mesh.text()); }, {.by_default = "none: has to be given"});
  set.add(
      a.mesh.order, "--order", "NAME",
      "which dimension of --mesh varies fastest from rank to rank; device-mesh: the last, as in torch's "
      "DeviceMesh; megatron: the first, as in its order tp-cp-ep-dp-pp",
      name_of<Order>({Order::device_mesh, Order::megatron}));
  set.add_custom(
      "--do", "LIST",
      "patterns, DIM:COLLECTIVE:SIZE, a comma list; each runs in all groups along DIM at once",
      [&a](const std::string& text) { a.patterns = parse_patterns(text); },
      [&a] {
        std::vector<std::string> names;
        for (const Pattern& pattern : a.patterns) names.push_back(pattern.name);
        return setting_of(names);
      },
      {.by_default = "none: has to be given"});
  set.add(a.type, "-d,--datatype", "TYPE", "type of all patterns",
          name_of(std::vector<DataType>(all_types().begin(), all_types().end())));
  set.add(a.op, "-o,--op", "OP", "operation of patterns that reduce",
          name_of(std::vector<ReduceOp>(all_ops().begin(), all_ops().end())));
  set.begin(Group::measuring);
  set.add(a.rounds, "--rounds", "N",
          "N times: each pattern alone, beside each other and beside all, and the same backwards",
          in_range(1, most_rounds));
  set.add(a.turn_s, "--turn-time", "SECONDS", "time of one such turn's timed calls", turn_time);
  set.begin(Group::checking);
  CheckOptions& check = a.options.check;
  set.add_custom(
      "-c,--check", "N|all",
      "verify N calls before each turn; 0: none; all: every call, timed ones too",
      [&check](const std::string& text) {
        check.all = text == "all";
        check.calls = check.all ? 1 : parse_int(text, 0, 1000, "all");
      },
      [&check] { return check.all ? SettingValue("all") : setting_of(check.calls); });
  set.add(check.seed, "--seed", "N", "seed of the data patterns", in_range(0, 1 << 30));
  declare_inject(set, a.options.job);
  declare_job(set, a.options);
  declare_library(set, a.options);
  set.begin(Group::output);
  set.add(a.file, "-J,--output_file", "FILE.jsonl",
          "also write FILE.jsonl: every turn, the matrix (JSON Lines)", file_name,
          {.shared = false, .file_use = FileUse::written});
  set.add(a.options.job.heartbeat_file, "--heartbeat", "FILE",
          "write progress lines to FILE instead of stderr", any_text(),
          {.shared = false, .file_use = FileUse::written});
  set.add(a.help, "-h,--help", "", "print this help", {.shared = false});
}

ProgramTexts texts() {
  static constexpr ExitText exits[] = {
      {"0", "all patterns were measured, all data were right"},
      {"2", "usage"},
      {"3", "unsupported here: NCCL, buffers on GPUs, MPI without MPI_THREAD_MULTIPLE"},
      {"4", "a library or a peer failed"},
      {"5", "timed out"},
      {"7", "wrong data"},
      {"8", "a pattern could not be measured alone: its row is N/A"}};
  return {
      .name = "mesh_perf",
      .about = "which groups of a mesh of ranks disturb each other",
      .operands = {},
      .examples =
          {{"mesh_perf --np 4 --mesh dp=2,tp=2 --do tp:all_reduce:1M,dp:all_gather:8M",
            "alone and beside each other"},
           {"mpirun -n 6 mesh_perf --backend mpi --mesh pp=3,dp=2 --do pp:sendrecv:1M,dp:all_reduce:4M",
            "over MPI"},
           {"mesh_perf --order megatron -t 4 --mesh tp=2,dp=2 --do tp:all_reduce:64K -J mesh.jsonl",
            "Megatron's order of ranks, and a file for scripts/plot.py --kind slowdown"}},
      .exits = exits};
}

Arguments parse(const std::vector<std::string>& words) {
  Arguments a;
  FlagSet set;
  declare_flags(set, a);
  a.help = !read_flags(set, read_command_line(set, words), "mesh_perf");
  if (a.help) return a;
  read_variables(set, process_environment());
  check(a);
  return a;
}

}  // namespace ccl_tests::mesh
