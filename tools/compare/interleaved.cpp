#include "tools/compare/interleaved.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "src/core/error.hpp"
#include "src/devices/core_to_core.hpp"
#include "src/record/quantity_text.hpp"

namespace ccl_tests::compare {
namespace {

class Drawing {
 public:
  Drawing(const Machine& machine, const Plan& plan, Comparison& result)
      : machine_(machine), plan_(plan), result_(result) {}

  // Adds to `pairs`, until they are `wanted`, ones during which the machine kept its state. The test
  // ends when the time is over; the screen does not, without which nothing is known.
  void draw(bool is_test, std::size_t wanted, const std::set<std::size_t>& sizes,
            std::vector<RunPair>& pairs) {
    const std::size_t most = plan_.tries_each * (wanted - std::min(wanted, pairs.size()));
    for (std::size_t tries = 0; pairs.size() < wanted && tries < most; ++tries) {
      if (is_test && out_of_time()) return;
      const std::optional<double> before = probe();
      RunPair pair = one(pairs.size() % 2 == 0, sizes);
      if (same_state(before, probe(), plan_.probe_limit))
        pairs.push_back(std::move(pair));
      else
        ++result_.redrawn;
      if (machine_.progress) machine_.progress(is_test ? "test" : "screen", pairs.size(), wanted);
    }
  }

  bool out_of_time() const { return machine_.out_of_time && machine_.out_of_time(); }

 private:
  std::optional<double> probe() {
    const std::optional<double> seconds = machine_.probe ? machine_.probe() : std::nullopt;
    if (seconds) {
      Interval& seen =
          result_.probes ? *result_.probes : result_.probes.emplace(Interval{*seconds, *seconds});
      seen = {std::min(seen.low, *seconds), std::max(seen.high, *seconds)};
    }
    return seconds;
  }

  RunPair one(bool base_first, const std::set<std::size_t>& sizes) {
    RunPair pair;
    if (base_first) pair.base = machine_.run(Side::base, sizes);
    pair.head = machine_.run(Side::head, sizes);
    if (!base_first) pair.base = machine_.run(Side::base, sizes);
    return pair;
  }

  const Machine& machine_;
  const Plan& plan_;
  Comparison& result_;
};

// Returns the sizes to ask for: none (all) if every size has a flagged row.
std::set<std::size_t> needed_sizes(const Matched& screen, const std::set<RowKey>& flagged) {
  std::set<std::size_t> all, needed;
  for (const auto& [key, pairs] : screen.rows) {
    all.insert(key.bytes);
    if (flagged.contains(key)) needed.insert(key.bytes);
  }
  return needed == all ? std::set<std::size_t>() : needed;
}

// Returns how many pairs there are at each look.
std::vector<std::size_t> looks_of(std::size_t pairs, std::size_t most) {
  std::vector<std::size_t> looks = {pairs};
  while (looks.back() < most) looks.push_back(std::min(2 * looks.back(), most));
  return looks;
}

// Returns whether more pairs do not change what the rows say: one row that is slower says what all
// of them together do.
bool is_decided(const std::map<RowKey, RowResult>& rows) {
  const auto any = [&](RowVerdict verdict) {
    return std::ranges::any_of(rows,
                               [&](const auto& row) { return row.second.verdict == verdict; });
  };
  return any(RowVerdict::slower) || !any(RowVerdict::inconclusive);
}

// Judges the flagged rows by fresh pairs, as often as the plan says until they are decided.
void test(const Matched& screen, const std::set<RowKey>& flagged, const Plan& plan,
          Drawing& drawing, Comparison& result) {
  const std::size_t most_looks = looks_of(plan.pairs, plan.most_pairs).size();
  const std::size_t fewest = fewest_pairs(flagged.size() * most_looks);
  if (plan.pairs < fewest)
    result.notes.push_back(fmt::format("{} instead of {}: fewer cannot confirm any of {}",
                                       counted(fewest, "pair"), plan.pairs,
                                       counted(flagged.size(), "flagged row")));
  const std::vector<std::size_t> looks = looks_of(std::max(plan.pairs, fewest), plan.most_pairs);
  std::vector<RunPair> fresh;
  std::map<RowKey, RowResult> tested;
  for (const std::size_t wanted : looks) {
    drawing.draw(true, wanted, needed_sizes(screen, flagged), fresh);
    const bool over = fresh.size() < wanted && drawing.out_of_time();
    Matched matched = match(fresh);
    std::erase_if(matched.rows, [&](const auto& row) { return !flagged.contains(row.first); });
    for (RowResult& row :
         judge(matched, plan.threshold, {.tests = flagged.size(), .looks = looks.size()})) {
      RowResult& known = tested[row.key];
      if (known.verdict != RowVerdict::slower && known.verdict != RowVerdict::faster)
        known = std::move(row);
    }
    if (over && (fresh.empty() || !is_decided(tested)))
      result.notes.push_back(fmt::format(
          "the time budget ended the test after {} of {}: a longer --time-budget or fewer sizes decide more",
          fresh.size(), counted(looks.back(), "pair")));
    else if (fresh.size() < wanted && !over)
      result.notes.push_back(fmt::format("{} of {}: the machine changed its state during {}",
                                         fresh.size(), counted(wanted, "pair"),
                                         counted(result.redrawn, "other")));
    if (fresh.size() < wanted || is_decided(tested)) break;
  }
  result.tested_pairs = fresh.size();
  result.looks = looks.size();
  for (RowResult& row : result.rows) {
    const auto found = tested.find(row.key);
    if (found == tested.end()) continue;
    row = found->second;
    row.flagged = true;
  }
}

}  // namespace

Comparison compare_interleaved(const Machine& machine, const Plan& plan) {
  Comparison result;
  Drawing drawing(machine, plan, result);
  std::vector<RunPair> first;
  drawing.draw(false, plan.screen_pairs, {}, first);
  if (first.empty())
    throw Error(fmt::format("the machine changed its state during each of {} pairs: the round trip "
                            "between two cores took {:.0f} to {:.0f} ns",
                            result.redrawn, result.probes->low * 1e9, result.probes->high * 1e9),
                Exit::inconclusive);
  const Matched screen = match(first);
  if (screen.rows.empty()) throw UsageError("cannot compare: no row is in base and in head");
  const std::set<RowKey> flagged = flag(screen, plan.threshold);
  result.screened_pairs = first.size();
  result.flagged = flagged.size();
  result.only_base = screen.only_base;
  result.only_head = screen.only_head;
  result.rows = screened(screen, flagged);
  if (!flagged.empty()) test(screen, flagged, plan, drawing, result);
  return result;
}

}  // namespace ccl_tests::compare
