// The findings of an acceptance run, as data: for the terminal, the verdict file, the report and JUnit.
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ccl_tests::acceptance {

// From the best to the worst that a run may be called; skipped: not looked at.
enum class Verdict { skipped, pass, warn, inconclusive, fail };
inline constexpr std::array<std::string_view, 5> verdict_names = {"SKIPPED", "PASS", "WARN",
                                                                  "INCONCLUSIVE", "FAIL"};
constexpr std::string_view name(Verdict verdict) {
  return verdict_names.at(static_cast<std::size_t>(verdict));
}

// Base units: "s", "B/s", "B"; "" for ratios and counts.
struct Number {
  std::string name = {};  // "busbw", "limit", "slowdown_low"
  double value = 0;
  std::string unit = {};
};

// One thing that was looked at.
struct Check {
  std::string id = {};          // the same in each run of a plan: "pairs/host/node17"
  std::string stage = {};       // "pairs"
  std::string subject = "run";  // or "host node17", "link node3-node9", "rack of node4 and 3 more"
  Verdict verdict = Verdict::skipped;
  std::string reason = {};  // a code of docs/ACCEPTANCE.md: "SLOW_HOST"
  std::string text = {};    // a sentence for people, without the subject
  std::vector<Number> numbers = {};
  double begin_s = 0, end_s = 0;  // since 1970

  void set(Verdict its_verdict, std::string its_reason, std::string its_text) {
    verdict = its_verdict;
    reason = std::move(its_reason);
    text = std::move(its_text);
  }
};

inline bool is_wrong_data(const Check& check) {
  return check.verdict == Verdict::fail && check.reason == "WRONG_DATA";
}

struct Stage {
  std::string name = {};
  Verdict verdict = Verdict::skipped;  // the worst of its checks
  std::string text = {};               // what was run, in a sentence
  double begin_s = 0, end_s = 0;
};

// Times between hosts.
struct PairMatrix {
  std::size_t bytes = 0;
  std::vector<std::vector<double>> seconds = {};  // from each host to each; NaN: not measured
  std::size_t rail = 0;                           // which rank of each host
};

struct CurvePoint {
  std::size_t bytes = 0;
  double busbw = 0, low = 0, high = 0;  // B/s; the interval's ends
  double limit = 0;                     // B/s; 0: none
};
struct Curve {
  std::string stage = {}, program = {}, type = {};
  int ranks = 0;
  std::vector<CurvePoint> points = {};
};

// A host, and what it says of itself (host/probe.hpp): "kernel", "gpu driver", ...
struct Host {
  std::string name = {};        // as people call it
  std::vector<int> ranks = {};  // ascending; the first one speaks for the host
  std::map<std::string, std::string> facts = {};
};

struct Record {
  std::string plan = {}, plan_digest = {}, version = {}, backend = {}, library = {}, launcher = {},
              command = {};
  unsigned long long seed = 0;
  double begin_s = 0, end_s = 0;
  bool complete = false;  // the plan's last stage has ended
  Verdict verdict = Verdict::inconclusive;
  std::string reason = {};  // of the check that decided
  std::vector<Host> hosts = {};
  std::vector<Stage> stages = {};
  std::vector<Check> checks = {};
  std::vector<PairMatrix> pairs = {};  // one for each size and rail
  std::vector<Curve> curves = {};
  std::vector<std::string> excluded = {};  // names of hosts
};

}  // namespace ccl_tests::acceptance
