#include "src/run/header_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "src/core/quote.hpp"
#include "src/job/cpu_share.hpp"
#include "src/options/alltoallv_options.hpp"
#include "src/options/spec_notes.hpp"
#include "src/run/row.hpp"

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
      fmt::format("pairs: {}, in {} round{}, a row for each", pairs, rounds.size(),
                  rounds.size() == 1 ? "" : "s")};
}

std::string time_text(const Collective& collective, bool streams) {
  if (!streams)
    return "time: mean of a fixed batch of operations issued back to back (as nccl-tests): a rate, "
           "not a latency";
  return fmt::format(
      "time: {} of a stream of operations, with a 95 % interval (nccl-tests' batch: -n)",
      statistic_of(collective) == Statistic::median ? "median" : "mean");
}

std::vector<Note> first_notes(const Process& process, const Options& o) {
  std::vector<Note> notes;
  if (process.options.simulated)
    notes.push_back({NoteKind::warning,
                     "simulated: times are the platform model's, not a machine's",
                     "rely on correctness and bus factors only"});
  if (!o.job.threads && process.options.threads)
    notes.push_back(
        {NoteKind::verbose,
         fmt::format("no launcher and no -t, -g or --np: this whole machine, {} as threads",
                     process.staging.gpus != nullptr ? "all GPUs, ranks" : "ranks")});
  return notes;
}

}  // namespace

std::string mode_of(const Collective& collective, const Options& o) {
  if (!collective.domain.paired) return std::string(collective.mode);
  return fmt::format("{}, window {}{}", o.spec.bidirectional ? "bidirectional" : "back and forth",
                     o.spec.window, o.sweep.concurrent ? ", pairs at once" : "");
}

NoteKind kind_of(std::string_view line, const Collective& collective,
                 const std::vector<Kind>& kinds) {
  if (line.starts_with("buffers in ") || line.starts_with("one rank: ") ||
      line.starts_with("threads: "))
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
  for (const auto& [type, op] : kinds) {
    if (mentions(name(type)) || (op && mentions(name(*op)))) return NoteKind::note;
  }
  return NoteKind::verbose;
}

std::vector<Note> notes_of(const Rank& rank, const Collective& collective, const Options& o,
                           const HeaderFacts& facts) {
  const Process& process = rank.process();
  std::vector<Note> notes = first_notes(process, o);
  if (!collective.domain.paired)
    notes.push_back({NoteKind::verbose, time_text(collective, facts.streams)});
  const auto add = [&](NoteKind kind, std::string text, std::string remedy = {}) {
    notes.push_back({kind, std::move(text), std::move(remedy)});
  };
  if (process.backend.name() == "loopback")
    add(NoteKind::warning, "loopback is a test double: its times say nothing about a library",
        "use another --backend to measure");
  if (std::string line = cpu_shortage(rank.table().ranks, process.backend); !line.empty())
    add(NoteKind::warning, std::move(line), "use fewer ranks or allow more CPUs");
  if (!o.output.label.empty()) add(NoteKind::note, "label: " + quote(o.output.label));
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
  if (rank.gpu() != nullptr) add(NoteKind::verbose, rank.gpu()->description());
  add(NoteKind::verbose, fmt::format("seed: {}", o.check.seed));
  for (const std::string& line : facts.communicator.capabilities().description)
    add(kind_of(line, collective, kinds_of(collective, o)), line);
  if (facts.range.sizes.empty()) return notes;
  const std::size_t largest = *std::max_element(facts.range.sizes.begin(), facts.range.sizes.end());
  for (std::string& line : alltoallv_summary(collective, o, facts.groups.ranks_of(0), largest))
    add(NoteKind::listing, std::move(line));
  return notes;
}

}  // namespace ccl_tests
