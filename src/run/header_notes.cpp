#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <numeric>
#include <utility>

#include "src/backends/mpi_library.hpp"
#include "src/core/quote.hpp"
#include "src/job/rank_cpus.hpp"
#include "src/record/quantity_text.hpp"
#include "src/run/beside.hpp"
#include "src/run/row.hpp"
#include "src/run/run_header.hpp"
#include "verify/arithmetic.hpp"

namespace ccl_tests {
namespace {

std::vector<std::string> pair_lines(const Options& o, const std::vector<RankGroups>& rounds) {
  int pairs = 0;
  for (const RankGroups& round : rounds) pairs += round.number();
  const char* const what =
      o.spec.bidirectional ? "a call in which both send at the same time" : "a round trip, halved";
  const std::string each =
      o.spec.window > 1 ? fmt::format(", divided by the {} messages of a window", o.spec.window)
                        : "";
  return {
      fmt::format("time: of one message one way: {}{}; bandwidths: of one direction", what, each),
      fmt::format("pairs: {}, in {}, a row for each", pairs, counted(rounds.size(), "round"))};
}

// A number of a stream or of samples.
std::string_view name(Statistic statistic) {
  constexpr std::array<std::string_view, 3> names = {"median", "mean", "10th percentile"};
  return names[static_cast<std::size_t>(statistic)];
}

std::string time_text(const Collective& collective, const Options& o, bool intervals,
                      bool cpus_short) {
  if (o.measure.samples)
    return fmt::format(
        "time: {} of samples with a 95 % interval; each is one operation after a "
        "barrier, until the slowest rank is done",
        name(statistic_of_samples(cpus_short)));
  if (!intervals)
    return "time: mean of a fixed batch of operations issued back to back (as nccl-tests): a rate, "
           "not a latency";
  return fmt::format(
      "time: {} of a stream of operations, with a 95 % interval (nccl-tests' batch: -n)",
      name(statistic_of(collective, cpus_short)));
}

std::string mib(std::size_t bytes) {
  return fmt::format("{:.4g} MiB", static_cast<double>(bytes) / (1 << 20));
}

Note cache_note(const Options& o, const SlotRule& rule) {
  const std::size_t bytes = footprint_to_be_had(rule);
  const bool cold = rule.use == CacheUse::cold;
  const std::string cache =
      fmt::format("the {} cache {}", cold ? "last-level" : "L2",
                  rule.cache_bytes > 0 ? "of " + mib(rule.cache_bytes) : "of unknown size");
  const std::string text =
      rule.use == CacheUse::warm
          ? fmt::format("cache: warm: calls rotate over buffers within {}", cache)
          : fmt::format("cache: {}: calls rotate over buffers of {} together, beyond {}{}",
                        name(rule.use), mib(bytes), cache,
                        cold ? ", which is flushed before each block" : "");
  if (bytes + 1 < footprint(rule))
    return {NoteKind::warning, fmt::format("{}; {} would be needed", text, mib(footprint(rule))),
            "use fewer ranks, or free memory"};
  return {o.measure.cache ? NoteKind::note : NoteKind::verbose, text};
}

void add_machine_notes(std::vector<Note>& notes, const HeaderFacts& facts) {
  constexpr double cheap_s = 200e-9;
  if (const ClockProperties& clock = facts.runner.clock(); clock.cost_s > 0) {
    const bool slow = clock.cost_s > cheap_s;
    notes.push_back({slow ? NoteKind::warning : NoteKind::verbose,
                     fmt::format("clock: a reading takes {:.0f} ns, resolution {:.0f} ns",
                                 clock.cost_s * 1e9, clock.resolution_s * 1e9),
                     slow ? "use a clock source that programs can read themselves, as tsc "
                            "(/sys/devices/system/clocksource)"
                          : ""});
  }
  if (facts.core_to_core)
    notes.push_back(
        {NoteKind::verbose, fmt::format("core to core: {:.0f} ns for a round trip of a cache line",
                                        *facts.core_to_core * 1e9)});
}

// Adds the note of --bind.
void add_bind_note(std::vector<Note>& notes, const std::vector<RankIdentity>& ranks,
                   const std::string& how) {
  constexpr std::size_t most_shown = 8;
  if (how == "none") return;
  const bool own_choice = how == "short";
  std::string text;
  for (std::size_t r = 0; r < ranks.size(); ++r) {
    if (ranks[r].bound.empty() && own_choice) continue;
    if (ranks[r].bound.empty())
      return notes.push_back(
          {NoteKind::warning,
           fmt::format("--bind {}: rank {} on {} is not bound: its host has fewer cores than busy "
                       "threads",
                       how, r, ranks[r].host),
           "use fewer ranks or allow more CPUs"});
    if (r < most_shown)
      text += fmt::format("{} rank {} CPUs {}", text.empty() ? "" : ",", r, ranks[r].bound);
  }
  if (text.empty()) return;
  if (ranks.size() > most_shown) text += ", ...";
  notes.push_back(
      {NoteKind::note, fmt::format("bind: {}:{}{}", how, text,
                                   own_choice ? " (--bind none: as the kernel places them)" : "")});
}

std::vector<Note> first_notes(const Rank& rank, const Options& o) {
  const Process& process = rank.process();
  std::vector<Note> notes;
  if (process.options.simulated())
    notes.push_back({NoteKind::warning,
                     "simulated: times are the platform model's, not a machine's",
                     "rely on correctness and bus factors only"});
  if (o.job.inject)
    notes.push_back(
        {NoteKind::warning,
         fmt::format("inject: {}: {}", text_of(*o.job.inject), about(o.job.inject->kind)),
         "leave --inject out to test the library"});
  if (rank.ranks() == 1 && process.staging.gpus == nullptr)
    notes.push_back({NoteKind::warning, "1 rank: nothing is communicated",
                     process.backend.info().one_rank_per_process
                         ? "use mpirun -n 2"
                         : "use --np 2, -t 2 or mpirun -n 2"});
  if (const std::string measured = process.backend.info().library;
      process.backend.name().starts_with("mpi-") && !process.launch.mpi_module.empty())
    if (const std::string other = launchers_other_mpi(measured, process.launch.mpi_module);
        !other.empty())
      notes.push_back(
          {NoteKind::warning,
           fmt::format("MPI: {} is measured; the MPI of this mpirun is {}", measured, other),
           "use one MPI's mpirun and library (--library, LD_LIBRARY_PATH)"});
  if (!o.job.threads && process.options.threads)
    notes.push_back(
        {NoteKind::verbose,
         process.staging.gpus != nullptr
             ? "no launcher and no -t, -g or --np: this whole machine, its GPU"
             : "no launcher and no -t, -g or --np: this whole machine, ranks as threads"});
  return notes;
}

std::string bucket_note(double mib) {
  if (mib == 0) return "buckets: none, every tensor is an operation of its own";
  if (mib < 0) return "buckets: one for all tensors";
  return fmt::format("buckets: up to {} MiB of tensors are one operation", mib);
}

std::string tensor_note(const std::vector<std::size_t>& tensors) {
  const std::size_t all = std::accumulate(tensors.begin(), tensors.end(), std::size_t{0});
  if (all == tensors.size()) return fmt::format("tensors: {} of equal length", tensors.size());
  return fmt::format("tensors: {}, in the proportions of a model of {} elements", tensors.size(),
                     all);
}

struct SpecText {
  std::string label;  // for the files, "skew linear"
  std::string note;   // a line of the header
};

// Returns the texts of the settings that the program takes.
std::vector<SpecText> spec_texts(const Collective& collective, const CollectiveOptions& o) {
  const CollectiveFlags& takes = collective.flags;
  std::vector<SpecText> all;
  if (takes.skew) {
    const std::string skew(name(o.skew));
    const char* const what = takes.objects ? "objects" : "ranks' blocks";
    all.push_back({"skew " + skew, fmt::format("lengths of the {}: {}", what, skew)});
  }
  if (takes.objects)
    all.push_back({fmt::format("{} objects", o.objects),
                   fmt::format("objects, items or keys: {}", o.objects)});
  if (takes.tensors) all.push_back({"tensors " + o.tensors_name, tensor_note(o.tensors)});
  if (takes.buckets)
    all.push_back({fmt::format("buckets of {} MiB", o.bucket_mib), bucket_note(o.bucket_mib)});
  if (takes.async_operations)
    all.push_back({o.async_operations ? "async" : "no async",
                   o.async_operations ? "operations: all started, then waited for"
                                      : "operations: each waited for before the next is started"});
  if (takes.routing)
    all.push_back(
        {fmt::format("routing {}, {} of {} experts, hidden {}", o.routing.name, o.routing.top_k,
                     o.routing.experts, o.routing.hidden),
         fmt::format("routing: {}, tokens of {} elements go to {} of {} experts", o.routing.name,
                     o.routing.hidden, o.routing.top_k, o.routing.experts)});
  if (takes.via)
    all.push_back({o.via_files ? "via cpu" : "via gpu",
                   o.via_files ? fmt::format("via files in a folder of {}", o.shared_dir)
                               : "via all_gather_object"});
  return all;
}

}  // namespace

std::vector<std::string> spec_notes(const Collective& collective,
                                    const CollectiveOptions& options) {
  std::vector<std::string> lines;
  for (SpecText& text : spec_texts(collective, options)) lines.push_back(std::move(text.note));
  if (collective.domain.fixed_bytes.value_or(0) > 0)
    lines.push_back(fmt::format("size: {} B, fixed", *collective.domain.fixed_bytes));
  if (collective.needs.step_times)
    lines.emplace_back(
        "steps: sizes (collectives that tell lengths), payload (collectives that carry data), "
        "packing (copies of one rank alone)");
  return lines;
}

std::string spec_label(const Collective& collective, const CollectiveOptions& options) {
  std::vector<std::string> words;
  for (SpecText& text : spec_texts(collective, options)) words.push_back(std::move(text.label));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::vector<std::string> routing_notes(const Collective& collective, const Options& options,
                                       int ranks, std::size_t bytes) {
  if (collective.load == nullptr || ranks < 1) return {};
  const std::size_t width = size_of(options.sweep.types.front());
  const Shape shape{bytes / width, width, {0, ranks}, options.spec};
  if (collective.unsupported(shape)) return {};
  const RoutingLoad load = collective.load(shape);
  const std::size_t token = options.spec.routing.hidden * width;
  return {
      fmt::format("load of a row of {} B: the busiest expert has {:.2f} times the mean "
                  "(maxvio {:.2f}), the busiest rank {:.2f}; {} B between ranks, at most {} B "
                  "of one",
                  bytes, load.expert, std::max(0.0, load.expert - 1), load.rank,
                  load.wire_tokens * token, load.busiest_tokens * token)};
}

std::vector<std::string> alltoallv_summary(const Collective& collective, const Options& options,
                                           int ranks, std::size_t bytes) {
  if (!options.spec.alltoallv_summary || !collective.flags.block_matrix) return {};
  constexpr int most_ranks = 64;
  const std::size_t width = size_of(options.sweep.types.front());
  std::vector<std::string> lines = {
      fmt::format("{}, blocks of a row of {} B, in bytes:", collective.name, bytes)};
  const auto describe = [&](const std::vector<std::size_t>& counts) {
    const auto [least, most] = std::minmax_element(counts.begin(), counts.end());
    const std::size_t sum = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
    return fmt::format("{} in blocks of {} to {}", sum * width, *least * width, *most * width);
  };
  for (int rank = 0; rank < std::min(ranks, most_ranks); ++rank) {
    const Layout layout = collective.layout({bytes / width, width, {rank, ranks}, options.spec});
    lines.push_back(fmt::format("  rank {:2} sends {}, receives {}", rank,
                                describe(layout.counts->send_counts),
                                describe(layout.counts->recv_counts)));
  }
  if (ranks > most_ranks) lines.push_back(fmt::format("  ... {} more ranks", ranks - most_ranks));
  return lines;
}

std::string mode_of(const Collective& collective, const Options& o) {
  if (!collective.domain.paired) return std::string(collective.mode);
  return fmt::format("{}, window {}{}", o.spec.bidirectional ? "bidirectional" : "back and forth",
                     o.spec.window, o.sweep.concurrent ? ", pairs at once" : "");
}

NoteKind kind_of(std::string_view line, const Collective& collective,
                 const std::vector<Kind>& kinds) {
  if (line.starts_with("buffers in ") || line.starts_with("one rank: ") ||
      line.starts_with("threads: ") || line.starts_with("event threads: ") ||
      line.starts_with("ranks' and event threads: ") || line.starts_with("--share-gpus: "))
    return NoteKind::note;
  std::string_view subject = line;
  for (const std::string_view end : {":", " are ", " have ", " has "})
    subject = subject.substr(0, subject.find(end));
  const auto mentions = [&](std::string_view word) {
    const auto letter = [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
    };
    for (std::size_t at = 0; (at = subject.find(word, at)) != std::string_view::npos; ++at) {
      const std::size_t end = at + word.size();
      const bool begins = at == 0 || !letter(subject[at - 1]);
      if (begins && (end == subject.size() || !letter(subject[end]))) return true;
    }
    return false;
  };
  if (mentions(collective.name)) return NoteKind::note;
  for (const auto& [type, op] : kinds)
    if (mentions(name(type)) || (op && mentions(name(*op)))) return NoteKind::note;
  return NoteKind::verbose;
}

std::vector<Note> notes_of(const Rank& rank, const Collective& collective, const Options& o,
                           const HeaderFacts& facts) {
  const Process& process = rank.process();
  std::vector<Note> notes = first_notes(rank, o);
  const std::string& shortage = rank.shortage();
  const bool is_fast = !shortage.empty() && facts.runner.has_intervals() && !o.measure.cpu_time &&
                       (o.measure.samples || !collective.domain.rooted);
  if (!collective.domain.paired || is_fast)
    notes.push_back({is_fast ? NoteKind::note : NoteKind::verbose,
                     time_text(collective, o, facts.runner.has_intervals(), !shortage.empty())});
  const auto add = [&](NoteKind kind, std::string text, std::string remedy = {}) {
    notes.push_back({kind, std::move(text), std::move(remedy)});
  };
  if (o.check.all)
    add(NoteKind::note,
        collective.needs.synchronizes
            ? "check: by time, in calls of their own; timed calls move no data that could be verified"
            : "check: every call, untimed and timed ones too; times are of calls one at a time, with "
              "pauses in which results are verified");
  if (o.check.data.kind != verify::DataKind::exact)
    add(NoteKind::note,
        fmt::format("data: {}{}", name(o.check.data.kind),
                    verify::RightResults::all_orders_known(rank.ranks())
                        ? ""
                        : "; so many ranks are held to a bound, not to the right results"));
  if (o.check.reproducible)
    add(NoteKind::note,
        fmt::format("reproducible: after each row its reduction is repeated on data whose sums are "
                    "rounded{}",
                    rank.ranks() > 2
                        ? ""
                        : "; up to two ranks have one order of additions: three show more"));
  if (process.backend.name() == "loopback")
    add(NoteKind::warning, "loopback is a test double: its times say nothing about a library",
        "use another --backend to measure");
  const bool own_choice = !o.job.threads && process.options.threads;  // 2, or they would be fewer
  if (!shortage.empty()) {
    const std::string how =
        more_cpus(rank.table().ranks, process.launch.launcher, process_environment());
    add(NoteKind::warning, shortage,
        own_choice
            ? "2 ranks are the least; with more CPUs, or over MPI, they do not wait"
            : fmt::format("{}allow more CPUs{}", rank.ranks() > 2 ? "use fewer ranks or " : "",
                          how.empty() ? "" : " (" + how + ")"));
  }
  if (!collective.needs.synchronizes) notes.push_back(cache_note(o, facts.range.slots));
  add_machine_notes(notes, facts);
  const std::string arithmetic = verify::processor_arithmetic();
  if (arithmetic != verify::standard_arithmetic)
    add(NoteKind::warning,
        fmt::format("the processor of rank 0 {}, as a library or a compiler's flag has set it",
                    arithmetic),
        "find the library that was built with -ffast-math; --data wide shows what it changes");
  for (const std::string& line : facts.rank_differences)
    if (!line.starts_with("CPUs: "))  // the line of the ranks has them
      add(NoteKind::note, "ranks differ in " + line);
  if (!o.output.label.empty()) add(NoteKind::note, "label: " + quote(o.output.label));
  if (o.sweep.passes > 1)
    add(NoteKind::note,
        fmt::format("passes: {}, all but the last in an order shuffled by --seed {}; rows are "
                    "medians over them",
                    o.sweep.passes, o.check.seed));
  if (o.sweep.placements != Placements::both)
    add(NoteKind::note, o.sweep.placements == Placements::in_place
                            ? "placements: in place alone (-O 0), the other has N/A"
                            : "placements: out of place alone (-O 1), the other has N/A");
  const std::string mode = mode_of(collective, o);
  if (!mode.empty()) add(NoteKind::note, "mode: " + mode);
  for (std::string& line : spec_notes(collective, o.spec)) add(NoteKind::note, std::move(line));
  if (collective.domain.paired)
    for (std::string& line : pair_lines(o, facts.range.groups))
      add(NoteKind::note, std::move(line));
  if (o.sweep.grouping.splits())
    add(NoteKind::note,
        fmt::format("groups by '{}': {}, all at once; {}", o.sweep.grouping.text,
                    facts.groups.describe(),
                    o.sweep.group_rows ? "a row for each" : "rows show the slowest"));
  if (!facts.ceiling.note.empty()) add(NoteKind::note, facts.ceiling.note);
  for (const std::string& line : facts.left_out) add(NoteKind::note, line);
  if (rank.gpu() != nullptr) add(NoteKind::verbose, rank.gpu()->info().description);
  add(NoteKind::verbose, fmt::format("seed: {}", o.check.seed));
  const Capabilities& library = facts.runner.communicator().capabilities();
  if (collective.domain.reduces)
    add(NoteKind::listing,
        "arithmetic: " + library.arithmetic(operations_of(collective), process.backend.name()));
  for (const std::string& line : library.description)
    add(kind_of(line, collective, kinds_of(collective, o)), line);
  add_bind_note(notes, rank.table().ranks, o.job.bind);
  if (o.measure.beside) add(NoteKind::note, beside_note(rank, *o.measure.beside));
  if (facts.range.sizes.empty()) return notes;
  const std::size_t largest = *std::max_element(facts.range.sizes.begin(), facts.range.sizes.end());
  for (std::string& line : routing_notes(collective, o, facts.groups.ranks_of(0), largest))
    add(NoteKind::note, std::move(line));
  for (std::string& line : alltoallv_summary(collective, o, facts.groups.ranks_of(0), largest))
    add(NoteKind::listing, std::move(line));
  return notes;
}

}  // namespace ccl_tests
