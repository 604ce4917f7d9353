#include "tools/acceptance/report/writers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <set>

namespace ccl_tests::acceptance {
namespace {

const Number* find(const std::vector<Number>& numbers, const std::string& name) {
  const auto found = std::ranges::find(numbers, name, &Number::name);
  return found == numbers.end() ? nullptr : &*found;
}

constexpr std::size_t subject_bytes = 36;  // leaves the words what they need

// Returns the check with the run's verdict and reason, otherwise the worst; null if nothing is wrong.
const Check* deciding_check(const Record& record) {
  const std::vector<const Check*> all = wrong_checks(record);
  const auto found = std::ranges::find_if(all, [&](const Check* check) {
    return check->verdict == record.verdict && check->reason == record.reason;
  });
  if (found != all.end()) return *found;
  return all.empty() ? nullptr : all.front();
}

// " and 2 more": hosts or links with the same verdict for the same reason.
std::string others(const Record& record, const Check& decided) {
  if (decided.subject == "run") return {};
  std::set<std::string> subjects;
  for (const Check& check : record.checks)
    if (check.verdict == decided.verdict && check.reason == decided.reason &&
        check.subject != decided.subject && check.subject != "run")
      subjects.insert(check.subject);
  return subjects.empty() ? "" : fmt::format(" and {} more", subjects.size());
}

// Returns the rate of the fastest pair of first ranks, bytes per second; 0 if none was measured.
double best_pair(const Record& record) {
  double best = 0;
  for (const PairMatrix& matrix : record.pairs)
    for (const std::vector<double>& row : matrix.seconds)
      for (const double seconds : row)
        if (matrix.rail == 0 && seconds > 0)
          best = std::max(best, static_cast<double>(matrix.bytes) / seconds);
  return best;
}

// The words for a run that passed, and whose hosts may all be slow.
std::string relative_words(const Record& record) {
  if (record.hosts.size() < 2)
    return "(relative): 1 host, results right; its speed was compared with nothing";
  const std::string hosts = "(relative): " + counted(record.hosts.size(), "host");
  const double best = best_pair(record);
  if (best <= 0) return hosts + ", results right; no limit of their speed is given";
  return fmt::format("{} alike, best pair {}; all slow? --min-bandwidth", hosts, rate_text(best));
}

std::string what_decided(const Record& record) {
  if (const Check* const check = deciding_check(record)) {
    const std::string& words = check->text.empty() ? check->reason : check->text;
    return shortened(single_line(bare_subject(*check)), subject_bytes) + others(record, *check) +
           ": " + single_line(words);
  }
  if (record.checks.empty()) return "run: nothing was measured";
  if (!record.complete)
    return fmt::format("run: ended early, after {}", counted(record.checks.size(), "check"));
  if (shown_verdict(record) >= Verdict::warn)
    return "run: " + single_line(record.reason.empty() ? "no reason was recorded" : record.reason);
  if (is_relative(record)) return relative_words(record);
  return fmt::format("{}, {}: {} in {}", counted(record.hosts.size(), "host"),
                     counted(ranks_of(record), "rank"), counted(record.checks.size(), "check"),
                     counted(record.stages.size(), "stage"));
}

constexpr std::size_t most_listed = 16;  // hosts that a command names

// Returns the value of the first such number of the checks with this id; 0 if there is none.
double number_in(const Record& record, std::string_view id, std::string_view name) {
  for (const Check& check : record.checks)
    for (const Number& number : check.numbers)
      if (check.id == id && number.name == name && std::isfinite(number.value)) return number.value;
  return 0;
}

bool says(const Record& record, std::string_view reason) {
  return std::ranges::any_of(record.checks, [&](const Check& check) {
    return check.verdict == Verdict::inconclusive && check.reason == reason;
  });
}

// Returns the launcher's words for the hosts that are not excluded; empty if only the user knows them.
std::string launcher_words(const Record& record) {
  std::vector<std::string> slots;
  std::size_t ranks = 0, most = 0;
  for (const Host& host : record.hosts) {
    if (std::ranges::find(record.excluded, host.name) != record.excluded.end()) continue;
    slots.push_back(fmt::format("{}:{}", host.name, host.ranks.size()));
    ranks += host.ranks.size();
    most = std::max(most, host.ranks.size());
  }
  const bool listed = record.hosts.size() > 1 && slots.size() <= most_listed;
  const auto mpirun = [&](const char* flag) {
    return fmt::format("mpirun -n {} {}", ranks,
                       listed ? fmt::format("{} {} ", flag, fmt::join(slots, ","))
                       : record.hosts.size() > 1 ? "... "
                                                 : "");
  };
  if (record.launcher == "mpirun (Open MPI)") return mpirun("--host");
  if (record.launcher == "mpirun (MPICH)") return mpirun("-hosts");
  if (record.launcher != "srun") return {};
  const std::string without =
      record.excluded.empty() ? "" : fmt::format("--exclude={} ", fmt::join(record.excluded, ","));
  return fmt::format("srun -N {} --ntasks-per-node={} {}", slots.size(), most, without);
}

std::string command(const Record& record, const std::string& flags = {}) {
  if (record.command.empty()) return {};
  return launcher_words(record) + record.command + flags;
}

// Asks for the rate that a pair of hosts should reach. Proposes a tenth less than was seen, which the
// same hosts reach again.
NextStep ask_for_rate(const Record& record) {
  const double seen = number_in(record, "pairs/rate", "bandwidth");
  std::string limit = rate_text(0.9 * seen);
  std::erase(limit, ' ');
  return {fmt::format("say what a pair of hosts should reach; half of the pairs reached {}",
                      rate_text(seen)),
          command(record, " --min-bandwidth " + limit)};
}

NextStep ask_for_silence(const Record& record) {
  const double detectable = number_in(record, "pairs/hosts", "detectable");
  const double larger = std::ceil(20 * detectable) * 5;  // percent
  return {fmt::format(
              "no verdict; run again when nothing else uses the hosts{}",
              larger > 0 && larger < 100
                  ? fmt::format(", or with slowdown = \"{:.0f} %\" in [pairs] of the plan", larger)
                  : ""),
          command(record)};
}

NextStep after_inconclusive(const Record& record) {
  if (says(record, "HOSTS_NOT_JUDGED") || says(record, "UNDECIDED")) return ask_for_silence(record);
  if (says(record, "TOO_FEW_HOSTS"))
    return {"no verdict; hosts are compared from 4 on: run on more of them", command(record)};
  if ((says(record, "NO_CEILING") && record.hosts.size() > 1) || says(record, "BELOW_WIRE"))
    return ask_for_rate(record);
  if (says(record, "NO_CEILING"))
    return {"no verdict; give a limit of node or full in a plan: [[limit]]", command(record)};
  return {"no verdict; fix what is listed above, then run again", command(record)};
}

}  // namespace

std::string rate_text(double bytes_per_second) {
  if (std::isnan(bytes_per_second)) return "not measured";
  constexpr std::array<const char*, 5> units = {"B/s", "kB/s", "MB/s", "GB/s", "TB/s"};
  std::size_t unit = 0;
  double value = bytes_per_second;
  while (std::isfinite(value) && std::fabs(value) >= 999.5 && unit + 1 < units.size()) {
    value /= 1000;
    ++unit;
  }
  if (std::fabs(value) >= 999.5) return fmt::format("{:.0f} {}", value, units.at(unit));
  return fmt::format("{:.3g} {}", value, units.at(unit));
}

std::string number_text(const Number& number) {
  const double value = number.value;
  if (std::isnan(value)) return "not measured";
  if (number.unit == "B/s") return rate_text(value);
  if (number.unit == "s" && value >= 0) return seconds_text(value);
  constexpr double exact = 9007199254740992.0;  // 2^53
  if (number.unit == "B" && value >= 0 && value < exact && value == std::floor(value))
    return binary_size_text(static_cast<std::size_t>(value));
  const bool whole = std::fabs(value) < exact && value == std::floor(value);
  const std::string text = whole ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
  return number.unit.empty() ? text : text + " " + number.unit;
}

std::string duration_text(double begin_s, double end_s) {
  return begin_s > 0 ? duration_text(end_s - begin_s) : "unknown";
}

std::string duration_text(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "unknown";
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<long>(std::lround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole / 60 % 60);
}

std::vector<std::string> quantities(const std::vector<Number>& numbers) {
  std::vector<std::string> texts;
  for (const Number& number : numbers) {
    const bool is_low = number.name.ends_with("_low"), is_high = number.name.ends_with("_high");
    std::string name = number.name, text = number_text(number);
    if (is_low || is_high) name.resize(name.rfind('_'));
    const Number* const low = find(numbers, name + "_low");
    const Number* const high = find(numbers, name + "_high");
    const bool interval = low != nullptr && high != nullptr;
    if (is_low || is_high) {
      if (find(numbers, name) != nullptr || (is_high && interval)) continue;  // shown with another
      if (interval)
        text += " to " + number_text(*high);
      else
        name = number.name;
    } else if (interval && !std::isnan(number.value)) {
      text += fmt::format(" [{}, {}]", number_text(*low), number_text(*high));
    }
    std::ranges::replace(name, '_', ' ');
    texts.push_back(name + ' ' + text);
  }
  return texts;
}

Verdict shown_verdict(const Record& record) {
  const bool looked = std::ranges::any_of(
      record.checks, [](const Check& check) { return check.verdict != Verdict::skipped; });
  if (record.complete && looked && record.verdict != Verdict::skipped) return record.verdict;
  return std::max(record.verdict, Verdict::inconclusive);
}

std::vector<const Check*> wrong_checks(const Record& record) {
  std::vector<const Check*> found;
  for (const Check& check : record.checks)
    if (check.verdict >= Verdict::warn) found.push_back(&check);
  std::ranges::stable_sort(found, std::ranges::greater(), &Check::verdict);
  return found;
}

std::string bare_subject(const Check& check) {
  constexpr std::string_view host = "host ";
  return check.subject.substr(check.subject.rfind(host, 0) == 0 ? host.size() : 0);
}

bool is_relative(const Record& record) {
  const Verdict verdict = shown_verdict(record);
  return (verdict == Verdict::pass || verdict == Verdict::warn) &&
         std::ranges::any_of(record.checks, [](const Check& check) {
           return check.id == "limits/ceiling" && check.reason == "NO_CEILING";
         });
}

std::string containment_text(const Record& record) {
  std::string text;
  for (const Stage& outer : record.stages) {
    std::vector<std::string> inner;
    for (const Stage& one : record.stages)
      if (outer.begin_s > 0 && one.begin_s > outer.begin_s && one.begin_s < outer.end_s &&
          one.end_s <= outer.end_s)
        inner.push_back(one.name);
    if (inner.empty()) continue;
    const std::string last = inner.back();
    inner.pop_back();
    text += fmt::format("{}The time of {} contains that of {}{}{}.", text.empty() ? "" : " ",
                        outer.name, fmt::join(inner, ", "), inner.empty() ? "" : " and ", last);
  }
  return text;
}

std::size_t ranks_of(const Record& record) {
  std::size_t ranks = 0;
  for (const Host& host : record.hosts) ranks += host.ranks.size();
  return ranks;
}

std::string headline(const Record& record) {
  return shortened(fmt::format("{} {}", name(shown_verdict(record)), what_decided(record)),
                   headline_bytes);
}

NextStep next_step(const Record& record) {
  NextStep without{"run again without these hosts", command(record)};
  if (!record.complete) {
    if (!record.excluded.empty()) return without;
    const bool waited = std::ranges::any_of(record.checks, [](const Check& check) {
      return check.reason == "TIMED_OUT" || check.text.find("imed out") != std::string::npos;
    });
    if (waited && record.hosts.size() > 1)
      return {"see if large packets pass (ping -M do -s 8972 HOST), then go on with --resume FILE",
              command(record)};
    return {"continue with --resume FILE, where --verdict FILE was given", command(record)};
  }
  switch (shown_verdict(record)) {
    case Verdict::fail:
      if (!record.excluded.empty()) return without;
      return {"no host is to blame; docs/ACCEPTANCE.md explains the reasons", command(record)};
    case Verdict::inconclusive: return after_inconclusive(record);
    case Verdict::warn: return {"the run may be accepted; look at what is listed", command(record)};
    case Verdict::pass:
    case Verdict::skipped: break;
  }
  if (!is_relative(record)) return {"keep the verdict file, to look back at", ""};
  if (record.hosts.size() > 1) return ask_for_rate(record);
  const bool kept = record.command.find(" --verdict") != std::string::npos;
  return {"keep what was found with --verdict FILE, and compare later runs with --baseline FILE",
          command(record, kept ? " --baseline FILE" : " --verdict FILE")};
}

}  // namespace ccl_tests::acceptance
