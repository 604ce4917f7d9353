#include "tools/mesh/mesh_job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "src/core/error.hpp"
#include "tools/mesh/lane.hpp"

namespace ccl_tests::mesh {
namespace {

// Returns the seconds of a call: the mean of the turn, of the slowest group.
double call_s(const PointRows& found) {
  double slowest = 0;
  for (const Row& row : found.rows) {
    const Measurement& cell = row.out_of_place;
    slowest = std::max(slowest, cell.stream ? cell.stream->mean : cell.seconds);
  }
  return slowest;
}

class Rounds {
 public:
  Rounds(Rank& rank, const Arguments& a, verify::PatternCache& patterns, MeshReport* report)
      : rank_(rank), arguments_(a), report_(report) {
    for (std::size_t k = 0; k < a.patterns.size(); ++k)
      lanes_.push_back(std::make_unique<Lane>(rank, a, k, patterns));
  }

  // One lane after the other: libraries start communicators of one process one by one.
  void connect() {
    for (std::size_t k = 0; k < lanes_.size(); ++k) {
      rank_.activity().phase("connecting " + arguments_.patterns[k].name);
      add(first_, k, lanes_[k]->connect(1.0 / static_cast<double>(lanes_.size())));
    }
  }

  void run() {
    for (std::size_t round = 0; round < static_cast<std::size_t>(arguments_.rounds); ++round)
      for (std::size_t victim = 0; victim < lanes_.size(); ++victim)
        for (const int beside : turns_of(victim, lanes_.size())) take(round, victim, beside);
  }

  void close() {
    for (const auto& lane : lanes_) lane->close();
  }

 private:
  void take(std::size_t round, std::size_t victim, int beside) {
    const std::vector<Pattern>& patterns = arguments_.patterns;
    const std::string others = beside_text(patterns, victim, beside);
    rank_.activity().phase(fmt::format("round {} of {}: {}{}{}", round + 1, arguments_.rounds,
                                       patterns[victim].name,
                                       others.empty() ? " alone" : " beside ", others));
    std::vector<std::size_t> loops;
    for (std::size_t k = 0; k < lanes_.size(); ++k)
      if (k != victim &&
          (beside == static_cast<int>(k) || beside == static_cast<int>(lanes_.size())))
        loops.push_back(k);
    for (const std::size_t k : loops) lanes_[k]->begin_loop(patterns[victim].name);
    meet();  // all ranks' loops run
    const PointRows found = lanes_[victim]->measure(others);
    meet();  // all ranks have measured
    FoundTurn turn = std::exchange(first_, {});
    static_cast<Turn&>(turn) = {round, victim, beside, call_s(found), found.wrong.empty()};
    add(turn, victim, found);
    for (const std::size_t k : loops) add(turn, k, lanes_[k]->end_loop());
    if (!rank_.is_first()) return;
    for (const std::string& line : turn.wrong) rank_.process().log(line);
    report_->add(turn);
  }

  // Adds what one pattern's calls of the turn were.
  void add(FoundTurn& turn, std::size_t pattern, const PointRows& found) {
    constexpr std::string_view word = "wrong: ";
    const std::string others = beside_text(arguments_.patterns, turn.victim, turn.beside);
    const std::string with = pattern != turn.victim
                                 ? " beside " + arguments_.patterns[turn.victim].name
                             : others.empty() ? std::string(" alone")
                                              : " beside " + others;
    for (const std::string& line : found.wrong)
      turn.wrong.push_back(fmt::format("{}{}{}: {}", word, arguments_.patterns[pattern].name, with,
                                       line.substr(line.starts_with(word) ? word.size() : 0)));
    if (found.rows.empty()) return;
    turn.calls += found.rows.front().out_of_place.calls;
    turn.verified += found.rows.front().out_of_place.verified_calls;
  }

  // Ranks come after calls of unknown length. A rank whose calls do not end is reported before.
  void meet() { rank_.world().all_gather("", patience_s); }
  static constexpr double patience_s = 3600;

  Rank& rank_;
  const Arguments& arguments_;
  MeshReport* report_;
  FoundTurn first_;  // what the job's first calls were, for the first turn
  std::vector<std::unique_ptr<Lane>> lanes_;
};

}  // namespace

int run(Rank& rank, const Arguments& arguments, verify::PatternCache& patterns,
        MeshReport* report) {
  Rounds rounds(rank, arguments, patterns, report);
  rounds.connect();
  if (rank.is_first()) report->begin(rank);
  rounds.run();
  const std::string spoiled = rank.spoiled_text();
  if (rank.is_first()) report->set_spoiled(spoiled);
  rank.activity().phase("closing");
  rounds.close();
  return rank.agree(rank.is_first() ? report->code() : exit_code(Exit::passed));
}

}  // namespace ccl_tests::mesh
