#include "src/options/flags.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <filesystem>

#include "src/core/error.hpp"
#include "src/core/output_file.hpp"
#include "src/core/quote.hpp"
#include "src/options/options.hpp"
#include "src/options/values.hpp"

namespace ccl_tests {
namespace {

void check_ranks(const Collective& collective, const Options& o, int ranks) {
  for (const int root : o.sweep.roots) {
    if (root < ranks) continue;
    throw UsageError(
        fmt::format("-r: there is no rank {}; accepted: 0 to {}, or all", root, ranks - 1));
  }
  const std::size_t rows = o.spec.alltoallv_bytes.size();
  if (rows > 0 && rows < static_cast<std::size_t>(ranks))
    throw UsageError(fmt::format("{}: {} rows for {} ranks; accepted: at least one row per rank",
                                 matrix_variable, rows, ranks));
  if (collective.unsupported == nullptr) return;
  if (const auto why = collective.unsupported({0, 4, {0, ranks}, o.spec})) throw Unsupported(*why);
}

// In-place forms exist for all shapes of a collective, or for none.
void check_placements(const Collective& collective, const Options& o, int ranks) {
  if (o.sweep.placements != Placements::in_place) return;
  if (collective.layout({0, 4, {0, ranks}, o.spec}).in_place) return;
  throw UsageError(
      fmt::format("-O: 0 measures in place alone, and {}_perf has no in-place form; accepted: 1",
                  collective.name));
}

}  // namespace

RankGroups unplaced_groups(const Options& o, int ranks) {
  return {o.sweep.grouping, std::vector<std::string>(static_cast<std::size_t>(ranks))};
}

void check_groups(const Collective& collective, const Options& options, const RankGroups& groups) {
  if (collective.domain.paired) {
    const SweepOptions& s = options.sweep;
    if (s.grouping.splits())  // by a variable
      throw UsageError("--group: this program runs on pairs of ranks; accepted: --pairs");
    pair_rounds(s.pairing, s.concurrent, groups.ranks());
    check_placements(collective, options, 2);
    return;
  }
  for (const int ranks : groups.distinct_sizes()) {
    check_ranks(collective, options, ranks);
    check_placements(collective, options, ranks);
  }
}

namespace {

bool is_json_lines(std::string file) {
  std::transform(file.begin(), file.end(), file.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return file.ends_with(".jsonl");
}

bool given(const Options& o, std::string_view flag) {
  return std::find(o.given.begin(), o.given.end(), flag) != o.given.end();
}

void check_sizes(const Options& o) {
  const SweepOptions& s = o.sweep;
  if (!s.sizes.empty()) {
    if (given(o, "-b") || given(o, "-e") || given(o, "-i") || given(o, "-f"))
      throw UsageError("--sizes: stands instead of -b, -e, -i and -f; accepted: one or the other");
    return;
  }
  if (s.min_bytes > s.max_bytes)
    throw UsageError(
        fmt::format("-b: {} is more than -e {}; accepted: -b up to -e", s.min_bytes, s.max_bytes));
  if (s.min_bytes == 0 && s.max_bytes > 0 && s.step_factor > 1)
    throw UsageError("-b: 0 cannot be multiplied; accepted: with -i SIZE, or 1 and above");
  constexpr std::size_t most_sizes = 1'000'000;
  if (s.step_factor == 1 && (s.max_bytes - s.min_bytes) / s.step_bytes >= most_sizes)
    throw UsageError(
        fmt::format("-i: steps of {} B from {} to {} are too many; accepted: up to {} sizes",
                    s.step_bytes, s.min_bytes, s.max_bytes, most_sizes));
}

// Turns --tokens into sizes, and refuses what no number of ranks can do.
void check_routing(const Collective& collective, Options& o) {
  if (!collective.flags.routing) return;
  const RoutingOptions& routing = o.spec.routing;
  SweepOptions& s = o.sweep;
  if (routing.top_k > routing.experts)
    throw UsageError(fmt::format("--top-k: {} is more than there are experts; accepted: up to {}",
                                 routing.top_k, routing.experts));
  constexpr std::size_t most_tokens = std::size_t{1} << 22;  // they are counted one by one: seconds
  const std::size_t token = routing.hidden * size_of(s.types.front());
  const auto check = [&](const char* flag, std::size_t tokens) {
    if (tokens > most_tokens)
      throw UsageError(
          fmt::format("{}: {} tokens of a rank, of {} B each (--hidden); accepted: up to {} tokens",
                      flag, tokens, token, most_tokens));
  };
  for (const std::size_t tokens : s.tokens) check("--tokens", tokens);
  if (s.sizes.empty()) check("-e", s.max_bytes / token);
  for (const std::size_t size : s.sizes) check("--sizes", size / token);
  if (s.tokens.empty()) return;
  for (const char* const flag : {"-b", "-e", "-i", "-f", "--sizes"})
    if (given(o, flag))
      throw UsageError(
          fmt::format("--tokens: stands instead of {}; accepted: one or the other", flag));
  for (const std::size_t tokens : s.tokens) s.sizes.push_back(tokens * token);
}

// Refuses a flag about a size that no row has. Otherwise that would be found out after the whole run.
void require_row(const Collective& collective, const Options& o, const char* flag,
                 std::size_t bytes) {
  const std::vector<std::size_t> sizes =
      collective.needs.synchronizes   ? std::vector<std::size_t>{0}
      : collective.domain.fixed_bytes ? std::vector<std::size_t>{*collective.domain.fixed_bytes}
                                      : sweep_sizes(o.sweep);
  if (std::find(sizes.begin(), sizes.end(), bytes) != sizes.end()) return;
  std::string first;
  for (std::size_t i = 0; i < std::min<std::size_t>(sizes.size(), 8); ++i)
    first += (i > 0 ? ", " : "") + size_text(sizes[i]);
  throw UsageError(fmt::format("{}: no row has {} B; accepted: {}{}", flag, bytes, first,
                               sizes.size() > 8 ? ", ..." : ""));
}

void check_limits(const Collective& collective, const Options& o) {
  if (o.limits.of_rows() && o.measure.iterations == 0)
    throw UsageError(
        "-n: 0 times nothing that a limit could be held to; accepted with --max-time, "
        "--min-busbw and --baseline: 1 or more");
  const Placements measured = o.sweep.placements;
  const auto check = [&](const char* flag, const SizeLimit& limit) {
    require_row(collective, o, flag, limit.bytes);
    if (limit.times != Placements::both && measured != Placements::both && limit.times != measured)
      throw UsageError(fmt::format("{}: -O {} leaves {} out; accepted: {}", flag,
                                   measured == Placements::in_place ? 0 : 1, name(limit.times),
                                   name(measured)));
  };
  for (const SizeLimit& limit : o.limits.min_busbw) check("--min-busbw", limit);
  for (const SizeLimit& limit : o.limits.max_time) check("--max-time", limit);
}

void check_counts(const Options& o) {
  const MeasureOptions& m = o.measure;
  const int threads = o.job.threads.value_or(1), each = o.job.ranks_per_thread.value_or(1);
  if (threads > 4096 / each)
    throw UsageError(fmt::format(
        "-t: {} x -g {} is too many ranks; accepted: up to 4096 per process", threads, each));
  if (std::int64_t{m.iterations} * m.aggregate > max_int)
    throw UsageError(fmt::format("-m: {} x -n {} is too many operations; accepted: up to {}",
                                 m.aggregate, m.iterations, max_int));
  for (const char* flag : {"--samples", "--precision", "--time-budget"}) {
    if (!m.batch || !given(o, flag)) continue;
    throw UsageError(fmt::format(
        "{}: -n, -m, -w, -z, -C, -I, -K and -G measure a fixed batch; accepted: one or the "
        "other",
        flag));
  }
  constexpr int slowest_rank = 3;
  if (m.samples && given(o, "-a") && m.average != slowest_rank)
    throw UsageError(
        fmt::format("-a: {}: a sample lasts until the slowest rank is done; accepted with "
                    "--samples: {}",
                    m.average, slowest_rank));
  if (o.output.raw && m.batch)
    throw UsageError(
        "--raw: the batch of -n, -m, -w, -z, -C, -I, -K and -G has no stamps; accepted: one or the "
        "other");
  if (o.output.raw && std::none_of(o.output.files.begin(), o.output.files.end(), is_json_lines))
    throw UsageError("--raw: stamps are kept in JSON Lines alone; accepted: with -J FILE.jsonl");
  if (m.batch && o.output.stats)
    throw UsageError(
        "--stats: the batch of -n, -m, -w, -z, -C, -I, -K and -G has no interval; accepted: one or "
        "the other");
  if (o.sweep.passes > 1 && o.sweep.cycles != 1)
    throw UsageError("--passes: -N repeats the sweep, too; accepted: one or the other");
  if (o.sweep.passes > 1 && m.per_iteration)
    throw UsageError("--passes: the statistics of -I are of one pass; accepted: one or the other");
  if (m.per_iteration && m.per_iteration_skip > 0 && m.per_iteration_skip >= m.iterations)
    throw UsageError(fmt::format("-K: {} of {} iterations would leave none; accepted: 0 to {}",
                                 m.per_iteration_skip, m.iterations, m.iterations - 1));
}

// A flag of ours that changes nothing without another one is a mistake. nccl-tests' flags stay
// accepted: scripts pass them in any combination.
void check_lone_flags(const Options& o) {
  const SweepOptions& s = o.sweep;
  if (s.group_rows && !s.grouping.splits())
    throw UsageError("--group-rows: there are no groups; accepted: with --group");
  if (s.concurrent && !s.pairing.all && s.pairing.list.size() < 2)
    throw UsageError("--concurrent: there is one pair; accepted: with --pairs of several");
  if (given(o, "--tolerance") && o.limits.baseline.empty())
    throw UsageError("--tolerance: nothing is compared; accepted: with --baseline");
  if (given(o, "--shared-dir") && !o.spec.via_files)
    throw UsageError("--shared-dir: no file is exchanged; accepted: with --via cpu");
}

// The pingpong of --ceiling auto runs on the world's communicator, before the rows.
void check_ceiling(const Collective& collective, const Options& o) {
  if (!o.measure.ceiling.measured) return;
  if (collective.domain.paired)
    throw UsageError("--ceiling: auto measures a pingpong, as this program; accepted: GB/s");
  if (o.sweep.grouping.splits())
    throw UsageError("--ceiling: auto measures without groups; accepted with --group: GB/s");
  if (o.measure.graph_launches > 0)
    throw UsageError("--ceiling: a pingpong cannot be captured; accepted with -G: GB/s");
  if (o.measure.cpu_time)
    throw UsageError("--ceiling: auto measures transfers, not issuing; accepted with -C: GB/s");
}

void check_graph(const Collective& collective, const Options& o) {
  if (o.measure.graph_launches == 0) return;
  if (o.measure.blocking != 0)
    throw UsageError(
        fmt::format("-z: {} waits between operations, which a graph cannot; accepted with -G: 0",
                    o.measure.blocking));
  if (o.measure.cache == CacheUse::cold)
    throw UsageError(
        "--cache: the launches of a graph repeat their slots, which are not cold then; accepted "
        "with -G: warm, rotate");
  if (o.backend.null_stream)
    throw UsageError("-y: the NULL stream cannot be captured in a graph; accepted with -G: 0");
  if (collective.needs.host_waits)
    throw Unsupported(
        fmt::format("-G: {}_perf waits for parts of its calls on the host, which a graph cannot",
                    collective.name));
}

void check_beside(const Options& o) {
  const MeasureOptions& m = o.measure;
  if (!m.beside) return;
  if (m.graph_launches > 0)
    throw UsageError("--beside: makes calls, not launches of a graph; accepted: without -G");
  if (m.iterations == 0)
    throw UsageError("--beside: -n 0 times nothing; accepted: with -n 1 and above, or without -n");
  if (o.check.all)
    throw UsageError(
        "--beside: calls beside a load have no pauses in which each is verified; accepted: with -c "
        "N");
  if (o.sweep.passes > 1)
    throw UsageError("--beside: repeats each row by itself; accepted: without --passes");
}

void check_duration(Options& o) {
  if (o.sweep.duration_s == 0) return;
  if (given(o, "-N"))
    throw UsageError("--duration: -N says how many cycles there are; accepted: one or the other");
  if (o.sweep.passes > 1)
    throw UsageError("--duration: --passes end with the last one; accepted: one or the other");
  if (o.check.calls == 0)
    throw UsageError("--duration: every row is verified; accepted: with -c 1 and above");
  o.sweep.cycles = 0;
}

// A call is verified before another one may write over its result.
void check_every_call(const Options& o) {
  if (!o.check.all) return;
  const MeasureOptions& m = o.measure;
  if (m.graph_launches > 0)
    throw UsageError(
        "-c: the launches of a graph write over each other's results; accepted with -G: a number");
  if (m.aggregate > 1)
    throw UsageError(
        "-c: operations that are issued as one are one call; accepted with -m: a number");
  if (m.per_iteration)
    throw UsageError("-c: -I times one batch without a stop; accepted with -I: a number");
}

void check_data(const Options& o) {
  if (o.check.data.kind != verify::DataKind::exact && o.check.calls == 0)
    throw UsageError("--data: -c 0 verifies nothing; accepted: with -c 1 and above");
}

void check_faults(const Collective& collective, const Options& o) {
  if (!o.job.inject) return;
  if (o.job.inject->at_bytes) require_row(collective, o, "--inject", *o.job.inject->at_bytes);
  if (o.check.calls == 0)
    throw UsageError("--inject: -c 0 verifies nothing; accepted: with -c 1 and above");
  if (o.measure.graph_launches > 0)
    throw UsageError("--inject: nothing can be spoiled within a graph; accepted: without -G");
  if (o.measure.aggregate > 1)
    throw UsageError(
        "--inject: waits for each operation, -m issues several as one; accepted: -m 1");
  if (o.measure.ceiling.measured)
    throw UsageError("--inject: would spoil the pingpong of --ceiling auto, too; accepted: GB/s");
}

void check_reproducible(const Options& o) {
  if (!o.check.digests.empty() && !o.check.reproducible)
    throw UsageError("--digests: digests are --reproducible's; accepted: with --reproducible");
  if (!o.check.digests.empty() && o.job.inject)
    throw UsageError("--digests: would keep what --inject spoils; accepted: one or the other");
  const auto& files = o.output.files;
  if (std::find(files.begin(), files.end(), o.check.digests) != files.end())
    throw UsageError("--digests: is -J's file, too; accepted: two names");
}

// Every process that exchanges files makes a folder there and removes it.
void check_shared_folder(const CollectiveOptions& spec) {
  if (!spec.via_files) return;
  const auto refuse = [&](const char* why) {
    throw UsageError(
        fmt::format("--shared-dir: {} {}; accepted: a folder that every rank can write",
                    quote(spec.shared_dir, shown_path_characters), why));
  };
  if (!std::filesystem::is_directory(spec.shared_dir)) refuse("is not a folder");
  try {
    const ScratchFolder trial(".ccl-tests-", spec.shared_dir);
  } catch (const Error&) {
    refuse("cannot be written");
  }
}

// Names of the types in `types` on which `op` is defined, or not.
std::vector<std::string_view> names_of(std::span<const DataType> types, ReduceOp op, bool defined) {
  std::vector<std::string_view> names;
  for (const DataType type : types) {
    const auto ops = ops_of(type);
    if ((std::find(ops.begin(), ops.end(), op) != ops.end()) == defined)
      names.push_back(name(type));
  }
  return names;
}

// some: what the program takes; empty: everything.
template <class T>
void refuse_others(const char* flag, const Collective& collective, std::span<const T> asked,
                   std::span<const T> some) {
  if (some.empty()) return;
  for (const T value : asked)
    if (std::find(some.begin(), some.end(), value) == some.end())
      throw Unsupported(fmt::format("{}: {}_perf has no {}; accepted: {}", flag, collective.name,
                                    name(value), fmt::join(all_names(some), ",")));
}

void check_operations(const Collective& collective, const Options& o) {
  refuse_others<DataType>("-d", collective, o.sweep.types, collective.domain.types);
  if (!collective.domain.reduces) return;
  refuse_others<ReduceOp>("-o", collective, o.sweep.ops, collective.domain.ops);
  for (const ReduceOp op : o.sweep.ops) {
    const auto without = names_of(o.sweep.types, op, false);
    if (without.empty()) continue;
    throw Unsupported(fmt::format("-o: {} is not defined on {}; accepted: with -d {}", name(op),
                                  fmt::join(without, ", "),
                                  fmt::join(names_of(all_types(), op, true), ",")));
  }
}

}  // namespace

void check_combinations(const Collective& collective, Options& o) {
  if (given(o, "-i") && !given(o, "-f")) o.sweep.step_factor = 1;
  check_routing(collective, o);
  check_sizes(o);
  check_limits(collective, o);
  check_counts(o);
  check_lone_flags(o);
  check_operations(collective, o);
  check_ceiling(collective, o);
  check_graph(collective, o);
  check_beside(o);
  check_every_call(o);
  check_duration(o);
  check_faults(collective, o);
  check_reproducible(o);
  check_data(o);
  check_shared_folder(o.spec);
}

}  // namespace ccl_tests
