#include "tools/mesh/mesh_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/version.hpp"
#include "src/record/quantity_text.hpp"
#include "src/report/table_footer.hpp"

namespace ccl_tests::mesh {
namespace {

using Json = nlohmann::ordered_json;

// Returns "0,1 2,3".
std::string members_text(const RankGroups& groups) {
  constexpr int most = 8;
  std::vector<std::string> all;
  for (int g = 0; g < std::min(most, groups.number()); ++g)
    all.push_back(fmt::format("{}", fmt::join(groups.members(g), ",")));
  return fmt::format("{}{}", fmt::join(all, " "), groups.number() > most ? " ..." : "");
}

std::vector<std::string> others(const std::vector<Pattern>& patterns, std::size_t victim,
                                int beside) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < patterns.size(); ++k) {
    const bool all = beside == static_cast<int>(patterns.size());
    if (k != victim && (all || beside == static_cast<int>(k))) names.push_back(patterns[k].name);
  }
  return names;
}

Json json_of(const std::optional<Interval>& interval) {
  if (!interval) return nullptr;
  return {{"value", interval->value}, {"low", interval->low}, {"high", interval->high}};
}

// Returns a line of each pattern that could not be measured alone.
std::vector<std::string> not_measured(const std::vector<Pattern>& patterns,
                                      const std::vector<Victim>& matrix) {
  std::vector<std::string> lines;
  for (std::size_t v = 0; v < patterns.size(); ++v)
    if (!matrix[v].alone)
      lines.push_back(
          fmt::format("{} could not be measured alone: {}", patterns[v].name, matrix[v].why_not));
  return lines;
}

// Returns which pattern is disturbed most, and by which one; empty: none is, for sure.
std::string most_disturbed(const std::vector<Pattern>& patterns,
                           const std::vector<Victim>& matrix) {
  std::string text;
  double most = 1;
  for (std::size_t v = 0; v < patterns.size(); ++v)
    for (std::size_t b = 0; b < patterns.size(); ++b) {
      const auto& found = matrix[v].slowdowns[b];
      if (!found || found->low <= 1 || found->value <= most) continue;
      most = found->value;
      text = fmt::format("{} takes {:.3g} times as long beside {} ({:.3g} to {:.3g})",
                         patterns[v].name, found->value, patterns[b].name, found->low, found->high);
    }
  return text;
}

}  // namespace

std::string longer_run(const Arguments& a) {
  constexpr int times = 4;
  return fmt::format("a longer --turn-time ({:g}) or more --rounds ({})",
                     std::min(times * a.turn_s, longest_turn_s),
                     std::min(times * a.rounds, most_rounds));
}

std::string beside_text(const std::vector<Pattern>& patterns, std::size_t victim, int beside) {
  return fmt::format("{}", fmt::join(others(patterns, victim, beside), ", "));
}

std::string table_text(const std::vector<Pattern>& patterns, const std::vector<Victim>& matrix) {
  constexpr int cell = 20;
  std::size_t width = 6;
  for (const Pattern& pattern : patterns) width = std::max(width, pattern.name.size());
  const bool has_all = patterns.size() > 2;
  std::string text = fmt::format("#    {:<{}} {:>27}  times as long beside:\n#    {:<{}} {:>27}",
                                 "", width, "time alone (us)", "victim", width, "95 % interval");
  for (std::size_t b = 0; b < patterns.size(); ++b) text += fmt::format(" {:>{}}", b + 1, cell);
  text += has_all ? fmt::format(" {:>{}}\n", "all others", cell) : "\n";
  const auto cell_text = [](const std::optional<Interval>& found) {
    if (!found) return std::string("N/A");
    return fmt::format("{:.3f} [{:.3f},{:.3f}]", found->value, found->low, found->high);
  };
  for (std::size_t v = 0; v < patterns.size(); ++v) {
    const Victim& victim = matrix[v];
    const std::string alone = victim.alone
                                  ? fmt::format("{:.2f} [{:.2f},{:.2f}]", victim.alone->value * 1e6,
                                                victim.alone->low * 1e6, victim.alone->high * 1e6)
                                  : "N/A";
    text += fmt::format("  {:>2} {:<{}} {:>27}", v + 1, patterns[v].name, width, alone);
    for (std::size_t b = 0; b < patterns.size() + (has_all ? 1 : 0); ++b)
      text += fmt::format(" {:>{}}", b == v ? "-" : cell_text(victim.slowdowns[b]), cell);
    text += '\n';
  }
  return text;
}

MeshReport::MeshReport(const Arguments& arguments, const std::string& file)
    : arguments_(arguments) {
  if (!file.empty()) file_.emplace(OutputFile::create(file, ".jsonl"));
  prepare_for_kill();
}

void MeshReport::begin(const Rank& rank) {
  const std::lock_guard lock(mutex_);
  const Process& process = rank.process();
  const Mesh& mesh = arguments_.mesh;
  for (const RankIdentity& one : rank.table().ranks) hosts_.insert(one.place());
  fmt::print("# mesh_perf, ccl-tests version {} backend={} library=\"{}\"\n", version(),
             process.backend.name(), process.backend.info().version);
  fmt::print("# Mesh     : {}: {} on {}; {} (--order {})\n", mesh.text(),
             counted(static_cast<std::uint64_t>(rank.ranks()), "rank"),
             counted(hosts_.size(), "host"), about(mesh.order), name(mesh.order));
  Json patterns = Json::array();
  for (std::size_t k = 0; k < arguments_.patterns.size(); ++k) {
    const Pattern& pattern = arguments_.patterns[k];
    const RankGroups groups = mesh.groups(pattern.dimension);
    fmt::print("# Pattern {}: {}, {}: {}\n", k + 1, pattern.name, groups.describe(),
               members_text(groups));
    Json members = Json::array();
    for (int g = 0; g < groups.number(); ++g) members.push_back(groups.members(g));
    patterns.push_back({{"name", pattern.name},
                        {"dimension", pattern.dimension},
                        {"collective", pattern.collective->name},
                        {"bytes", pattern.bytes},
                        {"groups", std::move(members)}});
  }
  fmt::print("# Turns    : {}, {:g} s a turn; a rank drives up to {} at once\n",
             counted(static_cast<std::uint64_t>(arguments_.rounds), "round"), arguments_.turn_s,
             counted(arguments_.patterns.size(), "communicator"));
  if (!rank.shortage().empty())
    fmt::print("# Note     : ranks wait for CPUs, so patterns disturb each other there too\n");
  std::fflush(stdout);
  begun_ = true;
  const Json header = {{"type", "mesh_header"},
                       {"version", version()},
                       {"backend", process.backend.name()},
                       {"library_version", process.backend.info().version},
                       {"launcher", process.launch.launcher},
                       {"ranks", rank.ranks()},
                       {"hosts", hosts_.size()},
                       {"mesh", mesh.text()},
                       {"order", name(mesh.order)},
                       {"datatype", name(arguments_.type)},
                       {"op", name(arguments_.op)},
                       {"rounds", arguments_.rounds},
                       {"turn_seconds", arguments_.turn_s},
                       {"seed", arguments_.options.check.seed},
                       {"cpus_short", !rank.shortage().empty()},
                       {"patterns", std::move(patterns)},
                       {"start_time", local_time()}};
  if (file_) file_->append(header.dump() + '\n');
  prepare_for_kill();
}

void MeshReport::add(const FoundTurn& turn) {
  const std::lock_guard lock(mutex_);
  turns_.push_back(turn);
  calls_ += turn.calls;
  verified_ += turn.verified;
  if (!turn.wrong.empty()) ++wrong_turns_;
  constexpr std::string_view word = "wrong: ";
  if (first_wrong_.empty() && !turn.wrong.empty())
    first_wrong_ = turn.wrong.front().substr(word.size());
  const Json line = {{"type", "mesh_turn"},
                     {"round", turn.round},
                     {"victim", arguments_.patterns[turn.victim].name},
                     {"beside", others(arguments_.patterns, turn.victim, turn.beside)},
                     {"time_s", turn.seconds},
                     {"calls", turn.calls},
                     {"verified_calls", turn.verified},
                     {"wrong", turn.wrong}};
  if (file_) file_->append(line.dump() + '\n');
  prepare_for_kill();
}

void MeshReport::set_spoiled(std::string text) {
  const std::lock_guard lock(mutex_);
  spoiled_ = std::move(text);
}

std::vector<Victim> MeshReport::matrix() const {
  return matrix_of(arguments_.patterns.size(), turns_, longer_run(arguments_));
}

int MeshReport::code_of(std::size_t missing) const {
  if (wrong_turns_ > 0) return exit_code(Exit::wrong_data);
  return exit_code(missing > 0 || !spoiled_.empty() ? Exit::inconclusive : Exit::passed);
}

int MeshReport::code() {
  const std::lock_guard lock(mutex_);
  return code_of(not_measured(arguments_.patterns, matrix()).size());
}

void MeshReport::judge(End& end, const std::vector<Victim>& matrix) const {
  const std::size_t missing = not_measured(arguments_.patterns, matrix).size();
  const int found = code_of(end.failure != 0 ? 0 : missing);
  end.code = end.failure > 128 ? end.failure : most_severe(end.failure, found);
  end.verdict = end.failure != 0    ? fmt::format("INCOMPLETE - exit code {}, {} turns measured{}",
                                                  end.code, turns_.size(),
                                               end.errors.empty() ? "" : ": " + end.errors.front())
                   : wrong_turns_ > 0 ? fmt::format("WRONG - {} of {} with wrong elements (exit 7)",
                                                    wrong_turns_, counted(turns_.size(), "turn"))
                : !spoiled_.empty() ? fmt::format("INCONCLUSIVE - {} (exit 8)", nothing_spoiled)
                : missing > 0 ? fmt::format("INCONCLUSIVE - {} of {} not measured alone (exit 8)",
                                            missing, counted(arguments_.patterns.size(), "pattern"))
                              : "OK";
}

std::string MeshReport::printed(const End& end, const std::vector<Victim>& matrix) const {
  const std::vector<Pattern>& patterns = arguments_.patterns;
  std::string last = fmt::format("# Verdict  : {}\n", end.verdict);
  if (end.failure == exit_code(Exit::timed_out))
    last += fmt::format("# Next     : {}\n", advice_on_a_wait(end.errors, hosts_.size() > 1));
  if (!begun_) return last;
  std::string text;
  if (!turns_.empty()) text += table_text(patterns, matrix);
  if (end.failure == 0)
    for (const std::string& line : not_measured(patterns, matrix))
      text += fmt::format("# N/A      : {}\n", line);
  if (const std::string most = most_disturbed(patterns, matrix); !most.empty())
    text += fmt::format("# Disturbed: {}\n", most);
  text += fmt::format("# Correct  : {} - {} of {} calls of rank 0 verified{}\n",
                      wrong_turns_ > 0 ? "no"
                      : verified_ > 0  ? "yes"
                                       : "not checked",
                      verified_, calls_, first_wrong_.empty() ? "" : "; first: " + first_wrong_);
  if (!spoiled_.empty()) text += fmt::format("# {}\n", spoiled_);
  return text + last;
}

std::string MeshReport::written(const End& end, const std::vector<Victim>& matrix) const {
  const std::vector<Pattern>& patterns = arguments_.patterns;
  std::string lines;
  for (std::size_t v = 0; begun_ && v < patterns.size(); ++v) {
    const Victim& victim = matrix[v];
    lines += Json{{"type", "mesh_alone"},
                  {"victim", patterns[v].name},
                  {"time_s", json_of(victim.alone)},
                  {"why_not", victim.why_not}}
                 .dump() +
             '\n';
    std::vector<int> all = turns_of(v, patterns.size());
    all.resize(all.size() / 2);  // once each
    for (const int beside : all) {
      if (beside == Turn::alone) continue;
      lines += Json{{"type", "mesh_slowdown"},
                    {"victim", patterns[v].name},
                    {"beside", others(patterns, v, beside)},
                    {"ratio", json_of(victim.slowdowns[static_cast<std::size_t>(beside)])}}
                   .dump() +
               '\n';
    }
  }
  return lines +
         Json{{"type", "mesh_footer"},
              {"complete", end.failure == 0},
              {"exit_code", end.code},
              {"verdict", end.verdict},
              {"calls", calls_},
              {"verified_calls", verified_},
              {"first_wrong", first_wrong_},
              {"spoiled", spoiled_},
              {"errors", end.errors},
              {"end_time", local_time()}}
             .dump() +
         '\n';
}

void MeshReport::prepare(std::string on_stdout, std::string in_file, std::int64_t size) {
  std::vector<OutputEnd> ends;
  if (file_) ends.push_back({file_->path(), std::move(in_file), size, file_->identity()});
  ends.push_back({.text = std::move(on_stdout)});
  crash_footer_.set(ends);
}

void MeshReport::prepare_for_kill() {
  // The matrix of many turns takes its time: that of all but the last hundredth of them will do.
  if (turns_.size() >= prepared_turns_ + prepared_turns_ / 100) {
    prepared_turns_ = turns_.size();
    prepared_matrix_ = matrix();
  }
  End end{exit_code(Exit::failed), {std::string(how_process_0_ended)}};
  judge(end, prepared_matrix_);
  prepare(printed(end, prepared_matrix_), written(end, prepared_matrix_), -1);
}

int MeshReport::end(int failure, const std::vector<std::string>& errors) {
  const std::lock_guard lock(mutex_);
  const std::vector<Victim> all = matrix();
  End end{failure, errors};
  judge(end, all);
  const std::string text = printed(end, all), lines = written(end, all);
  const auto size = static_cast<std::int64_t>(file_ ? file_->size() : 0);
  prepare(text, lines, size);
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  prepare({}, lines, size);
  if (file_) {
    file_->append(lines);
    file_->close();
  }
  prepare({}, {}, -1);
  return end.code;
}

}  // namespace ccl_tests::mesh
