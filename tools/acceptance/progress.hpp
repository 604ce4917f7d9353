// The text of a plan, and how long a run takes, before and while it runs. Pure: times come from the caller.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/acceptance/plan/plan.hpp"

namespace ccl_tests::acceptance {

// A number between what is certain and what is allowed.
struct Expected {
  double least = 0, most = 0;
};

struct PlannedStage {
  std::string name;
  Expected takes;  // seconds
};

// Returns how many rounds of messages a search for slow hosts takes.
Expected expected_rounds(const PairsPlan& plan, int hosts);

// Returns the stages that take time, in order. Timed calls count, and little is known of `programs`.
// ranks: of the host that has the most; rails: they are looked at (has_rails()).
std::vector<PlannedStage> planned_stages(const Plan& plan, int hosts, int ranks, bool rails);

// Returns "40 s", or "20 s to 2 min 00 s" if the two differ by more than a fifth.
std::string expected_text(const Expected& seconds);

// The part of a stage that is done: "round 12 of 20 to 84".
struct Part {
  std::string_view unit;
  double done = 0, least = 0, most = 0;  // units; least and most: of the whole stage
};

// Follows one run. Seconds are those of any clock that only goes forward.
class Progress {
 public:
  Progress() = default;
  // stages: that are to be run, in order.
  Progress(std::vector<PlannedStage> stages, double now_s);

  // A stage may begin within another one, which rests meanwhile. One that was not planned may, too.
  void begin(const std::string& stage, double now_s);
  void end(double now_s);  // of the innermost one
  // Notes what is done of the innermost stage. Returns a line for people if the last one is 5 s and a tenth of the run
  // old: "round 12 of 20 to 84, 9.1 s; left: 20 s to 2 min 00 s".
  std::optional<std::string> at(const Part& part, double now_s);
  // Returns the seconds that are left of the run.
  Expected left(double now_s) const;

 private:
  struct Running {
    std::string name;
    double own_s = 0, since_s = 0;  // own: without what ran within it, until since
    Part part = {};
  };
  double spent_s(const Running& stage, double now_s) const;

  std::vector<PlannedStage> to_come_;  // what has not ended
  std::vector<Running> running_;       // the innermost last
  double begun_s_ = 0, told_s_ = 0;
};

// Returns a line for each stage: what is run, what it is held to, how much memory and how long.
std::string plan_text(const Plan& plan);

}  // namespace ccl_tests::acceptance
