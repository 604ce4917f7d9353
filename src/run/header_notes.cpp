#include "src/run/header_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <sstream>

#include "src/options/alltoallv_options.hpp"
#include "src/options/spec_notes.hpp"
#include "src/run/cpu_share.hpp"

namespace ccl_tests {
namespace {

std::vector<std::string> pair_lines(const Options& o, const std::vector<PairRound>& rounds) {
  std::size_t pairs = 0;
  for (const PairRound& round : rounds) pairs += round.size();
  if (pairs == 0) return {};
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

}  // namespace

std::string mode_of(const Collective& collective, const Options& o) {
  if (!collective.paired) return std::string(collective.mode);
  return fmt::format("{}, window {}{}", o.spec.bidirectional ? "bidirectional" : "back and forth",
                     o.spec.window, o.concurrent ? ", pairs at once" : "");
}

NoteKind kind_of(std::string_view line, const Collective& collective,
                 const std::vector<Kind>& kinds) {
  if (line.starts_with("buffers in ") || line.starts_with("one rank: ")) return NoteKind::note;
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

std::vector<Note> notes_of(const RankJob& job, const std::vector<RankIdentity>& ranks,
                           const RankGroups& groups, const std::vector<PairRound>& rounds,
                           const SizePlan& plan, const Communicator& communicator,
                           const Device* gpu, const std::vector<std::string>& left_out) {
  const Options& o = job.options;
  std::vector<Note> notes = job.notes;
  const auto add = [&](NoteKind kind, std::string text, std::string remedy = {}) {
    notes.push_back({kind, std::move(text), std::move(remedy)});
  };
  if (job.backend.name() == "loopback")
    add(NoteKind::warning, "loopback is a test double: its times say nothing about a library",
        "use another --backend to measure");
  if (std::string line = cpu_shortage(ranks, job.backend); !line.empty())
    add(NoteKind::warning, std::move(line), "use fewer ranks or allow more CPUs");
  const std::string mode = mode_of(job.collective, o);
  if (!mode.empty()) add(NoteKind::note, "mode: " + mode);
  for (std::string& line : spec_notes(job.collective, o.spec)) add(NoteKind::note, std::move(line));
  for (std::string& line : pair_lines(o, rounds)) add(NoteKind::note, std::move(line));
  if (o.grouping.splits())
    add(NoteKind::note,
        fmt::format("groups by '{}': {}, all at once; {}", o.grouping.text, groups.describe(),
                    o.group_rows ? "a row for each" : "rows show the slowest"));
  for (const std::string& line : left_out) add(NoteKind::note, line);
  if (gpu != nullptr) add(NoteKind::verbose, gpu->description());
  add(NoteKind::verbose, fmt::format("seed: {}", o.seed));
  std::istringstream description(communicator.description());
  for (std::string line; std::getline(description, line);)
    add(kind_of(line, job.collective, kinds_of(job.collective, o)), line);
  if (plan.sizes.empty()) return notes;
  const std::size_t largest = *std::max_element(plan.sizes.begin(), plan.sizes.end());
  for (std::string& line : alltoallv_summary(job.collective, o, groups.ranks_of(0), largest))
    add(NoteKind::listing, std::move(line));
  return notes;
}

}  // namespace ccl_tests
