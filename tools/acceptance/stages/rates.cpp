#include "tools/acceptance/stages/stages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <utility>

#include "src/core/clock.hpp"
#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/options/values.hpp"
#include "src/record/row_text.hpp"
#include "tools/acceptance/report/writers.hpp"

namespace ccl_tests::acceptance {
namespace {

constexpr double bytes_in_gb = 1e9;

// The first finding in either placement; empty: none.
std::string wrong_text(const Row& row) {
  for (const Measurement* cell : {&row.out_of_place, &row.in_place})
    if (!cell->mismatches.empty()) return mismatch_text(cell->mismatches.front());
  return {};
}

std::vector<Number> numbers_of(const BusBandwidth& found) {
  std::vector<Number> numbers;
  if (found.value > 0)
    numbers = {{"busbw", found.value, "B/s"},
               {"busbw_low", found.low, "B/s"},
               {"busbw_high", found.high, "B/s"}};
  numbers.push_back({"time", found.seconds, "s"});
  return numbers;
}

// "100 of 120 GB/s", "3.2 kB/s of 120 GB/s".
std::string share_text(double value, double limit) {
  const std::string reached = rate_text(value), wanted = rate_text(limit);
  const auto unit = [](const std::string& text) { return text.substr(text.find(' ')); };
  const bool same = unit(reached) == unit(wanted);
  return fmt::format("{} of {}", same ? reached.substr(0, reached.find(' ')) : reached, wanted);
}

// Runs a stage's programs on the groups in use, and adds a check for each row. Returns the best bus bandwidth of
// each group, bytes per second.
std::vector<double> measure_rates(Context& context, const std::string& stage, const RatePlan& plan,
                                  const std::vector<std::string>& subjects, int ranks) {
  Verified verified;
  std::vector<double> best(subjects.size(), 0);
  Part part{.unit = "row"};
  part.least = part.most = static_cast<double>(plan.programs.size() * plan.sizes.size());
  for (const std::string& name : plan.programs) {
    const Collective& program = program_named(name);
    if (const auto why = why_not(program, context.team, ranks)) {
      context.journal.add(fmt::format("{}/{}", stage, name), Verdict::inconclusive, "UNSUPPORTED",
                          name + ": " + *why);
      part.done += static_cast<double>(plan.sizes.size());
      continue;
    }
    Curve curve{.stage = stage,
                .program = name,
                .type = std::string(ccl_tests::name(usual_type(program))),
                .ranks = ranks};
    for (const std::size_t bytes : plan.sizes) {
      PointRows found;
      try {
        found = context.team.rows(program, bytes, plan.seconds);
      } catch (const TooLarge& e) {
        context.journal.add(fmt::format("{}/run/{}/{}", stage, name, bytes), Verdict::inconclusive,
                            "NOT_MEASURED",
                            fmt::format("{} {}: {}", name, size_text(bytes), e.what()));
      }
      verified.add(found);
      for (std::size_t r = 0; r < found.rows.size(); ++r) {
        const BusBandwidth reached = bus_bandwidth(found.rows[r]);
        best.at(r) = std::max(best.at(r), reached.value);
        context.journal.add(
            row_check(context.plan, stage, subjects.at(r), name, bytes, found.rows[r]));
        if (r > 0) continue;
        const RateLimit* const limit = limit_of(context.plan, stage, name, bytes);
        curve.points.push_back({bytes, reached.seconds > 0 ? reached.value : std::nan(""),
                                reached.low, reached.high,
                                limit == nullptr ? 0 : limit->min_busbw});
      }
      ++part.done;
      context.journal.at(part);
    }
    context.journal.add(curve);
  }
  context.journal.add(verified.check(stage + "/data"));
  return best;
}

// Inside a host with GPUs their NVLinks say what can be reached: comparing hosts does not show that all are slow.
void check_nvlinks(Context& context, const std::vector<double>& best) {
  if (context.team.rank().process().staging.gpus == nullptr) return;
  const auto descriptions = context.hosts.of_leaders(context.team.descriptions());
  for (int h = 0; h < context.hosts.number(); ++h) {
    const Host& host = context.hosts[h];
    const double links = descriptions[static_cast<std::size_t>(h)].nvlink_rate;
    if (links <= 0 || host.ranks.size() < 2) continue;
    context.journal.add(nvlink_check(host.name, best.at(static_cast<std::size_t>(h)), links,
                                     context.plan.pairs.efficiency));
  }
}

Check soak_check(Context& context) {
  const std::string& name = context.plan.full.programs.front();
  const Collective& program = program_named(name);
  const std::size_t bytes = largest(context.plan.full);
  const double all_s = context.plan.soak_s, begin_s = monotonic_seconds();
  Verified verified;
  Check check;
  for (double done_s = 0; done_s < all_s && check.verdict != Verdict::fail;) {
    verified.add(context.team.checked_rows(program, usual_type(program), usual_op(program), bytes));
    check = verified.check("soak/" + name);
    done_s = monotonic_seconds() - begin_s;
    context.journal.at({"second", done_s, all_s, all_s});
  }
  if (check.verdict == Verdict::pass)
    check.text = fmt::format("{} right: fewer than 3 in {} are wrong, with 95 % confidence",
                             counted(verified.calls(), "call"), verified.calls());
  check.numbers = {check.numbers.back()};  // the calls; rows are repeats of one
  return check;
}

// Returns nullopt if the check is of no row.
std::optional<BusBandwidth> rate_of(const Check& check) {
  BusBandwidth rate;
  for (const Number& number : check.numbers) {
    if (number.name == "busbw") rate.value = number.value;
    if (number.name == "busbw_low") rate.low = number.value;
    if (number.name == "busbw_high") rate.high = number.value;
  }
  return rate.value > 0 && rate.low > 0 && rate.high > 0 ? std::optional(rate) : std::nullopt;
}

Check slower_row(const Check& check, const BusBandwidth& was, const BusBandwidth& is) {
  return {
      .id = "baseline/" + check.id,
      .subject = check.subject,
      .verdict = Verdict::warn,
      .reason = "SLOWER_THAN_BEFORE",
      .text = fmt::format("{}: {}, {} before", check.id, rate_text(is.value), rate_text(was.value)),
      .numbers = {{"slowdown", was.value / is.value - 1},
                  {"slowdown_low", was.low / is.high - 1},
                  {"slowdown_high", was.high / is.low - 1},
                  {"busbw", is.value, "B/s"},
                  {"busbw_before", was.value, "B/s"}}};
}

}  // namespace

BusBandwidth bus_bandwidth(const Row& row) {
  const Measurement* best = &row.out_of_place;
  const Measurement& other = row.in_place;
  if (!other.repeats_out_of_place && other.seconds > 0 && other.seconds < best->seconds)
    best = &other;
  BusBandwidth found{.value = best->busbw * bytes_in_gb, .seconds = best->seconds};
  const bool interval = best->stream && best->stream->low && best->stream->high;
  found.seconds_low = interval ? *best->stream->low : found.seconds;
  found.seconds_high = interval ? *best->stream->high : found.seconds;
  found.low = found.seconds_high > 0 ? found.value * found.seconds / found.seconds_high : 0;
  found.high = found.seconds_low > 0 ? found.value * found.seconds / found.seconds_low : 0;
  return found;
}

const RateLimit* limit_of(const Plan& plan, std::string_view stage, std::string_view program,
                          std::size_t bytes) {
  const RateLimit* any_size = nullptr;
  for (const RateLimit& limit : plan.limits) {
    const bool meant = limit.stage == stage || (limit.stage == "full" && stage == "rest");
    if (!meant || limit.program != program) continue;
    if (limit.bytes == bytes) return &limit;
    if (limit.bytes == 0) any_size = &limit;
  }
  return any_size;
}

Check row_check(const Plan& plan, const std::string& stage, const std::string& subject,
                std::string_view program, std::size_t bytes, const Row& row) {
  const BusBandwidth found = bus_bandwidth(row);
  const std::string what = fmt::format("{} {}", program, size_text(bytes));
  Check check{.id = fmt::format("{}/{}/{}/{}", stage, subject, program, bytes),
              .stage = stage,
              .subject = subject,
              .numbers = numbers_of(found)};
  const auto says = [&](Verdict verdict, const char* reason, std::string text) {
    check.set(verdict, reason, std::move(text));
    return check;
  };
  if (const std::string wrong = wrong_text(row); !wrong.empty())
    return says(Verdict::fail, "WRONG_DATA", fmt::format("{}: wrong: {}", what, wrong));
  if (found.seconds <= 0)
    return says(Verdict::inconclusive, "NOT_MEASURED", what + ": there is no time");
  const std::string reached = fmt::format("{} {}", what, rate_text(found.value));
  const RateLimit* const limit = limit_of(plan, stage, program, bytes);
  if (limit == nullptr) return says(Verdict::skipped, "NO_LIMIT", reached + ", no limit given");
  const double least = limit->min_busbw > 0 ? limit->min_busbw : limit->warn_busbw;
  if (least > 0) check.numbers.push_back({"limit", least, "B/s"});
  if (limit->max_time_s > 0) check.numbers.push_back({"limit", limit->max_time_s, "s"});
  if (least > 0 && found.value <= 0)
    return says(Verdict::inconclusive, "NO_BANDWIDTH",
                what + ": no data leave a rank, so there is no bus bandwidth");
  struct Line {
    double limit;
    Verdict verdict;
    const char* reason;
  };
  for (const Line& line : {Line{limit->min_busbw, Verdict::fail, "TOO_SLOW"},
                           Line{limit->warn_busbw, Verdict::warn, "SLOW"}}) {
    if (line.limit <= 0 || found.low >= line.limit) continue;
    if (found.high < line.limit)
      return says(line.verdict, line.reason,
                  fmt::format("{} {}", what, share_text(found.value, line.limit)));
    return says(Verdict::inconclusive, "TOO_NOISY",
                fmt::format("{} {} to {}, the limit {} is in between", what, rate_text(found.low),
                            rate_text(found.high), rate_text(line.limit)));
  }
  if (limit->max_time_s > 0 && found.seconds_high > limit->max_time_s) {
    const bool surely = found.seconds_low > limit->max_time_s;
    return says(surely ? Verdict::fail : Verdict::inconclusive, surely ? "TOO_SLOW" : "TOO_NOISY",
                fmt::format("{} {} of {} at most", what, number_text({"time", found.seconds, "s"}),
                            number_text({"limit", limit->max_time_s, "s"})));
  }
  return says(Verdict::pass, "OK", reached);
}

void check_same_run(const Record& before, const Record& now) {
  const auto same = [](const char* what, const std::string& was, const std::string& is) {
    if (was != is)
      throw UsageError(
          fmt::format("--baseline: the {} was {} and is {}; accepted: a run of the same", what,
                      quote(was), quote(is)));
  };
  same("plan", before.plan, now.plan);
  same("backend", before.backend, now.backend);
  same("number of hosts", std::to_string(before.hosts.size()), std::to_string(now.hosts.size()));
  same("number of ranks", std::to_string(ranks_of(before)), std::to_string(ranks_of(now)));
  const auto wrong = std::ranges::find_if(before.checks, is_wrong_data);
  if (wrong != before.checks.end())
    throw UsageError(
        fmt::format("--baseline: the run found wrong data: {}: {}; accepted: a run that "
                    "found none",
                    wrong->subject, wrong->text));
}

std::vector<Check> compare_rows(const Record& before, const Record& now, double slowdown) {
  std::map<std::string, BusBandwidth> known;
  for (const Check& check : before.checks)
    if (const auto rate = rate_of(check)) known.emplace(check.id, *rate);
  std::vector<Check> checks;
  std::size_t common = 0;
  std::vector<std::string> missing;
  for (const Check& check : now.checks) {
    const auto is = rate_of(check);
    if (!is) continue;
    const auto was = known.find(check.id);
    if (was == known.end()) {
      missing.push_back(check.id);
      continue;
    }
    ++common;
    if (was->second.value / is->value - 1 > slowdown && was->second.low > is->high)
      checks.push_back(slower_row(check, was->second, *is));
  }
  Check all{.id = "baseline/rows",
            .verdict = Verdict::pass,
            .reason = "OK",
            .text = fmt::format("{} of {} rows are slower than before by more than {:g} %",
                                checks.size(), common, 100 * slowdown),
            .numbers = {{"rows", static_cast<double>(common)},
                        {"slower_rows", static_cast<double>(checks.size())}}};
  if (common == 0) {
    all.set(Verdict::inconclusive, "NOTHING_MEASURED", "the earlier run has none of these rows");
  } else if (!missing.empty()) {
    all.verdict = Verdict::inconclusive;
    all.reason = "NOT_IN_BASELINE";
    all.text += fmt::format("; the earlier run lacks {}", fmt::join(missing, ", "));
  }
  checks.push_back(std::move(all));
  return checks;
}

Check nvlink_check(const std::string& host, double busbw, double links, double efficiency) {
  const double limit = efficiency * links;
  Check check{.id = "node/nvlink/" + host,
              .subject = "host " + host,
              .verdict = busbw >= limit ? Verdict::pass : Verdict::inconclusive,
              .reason = busbw >= limit ? "OK" : "BELOW_NVLINK",
              .text = fmt::format(
                  "the best bus bandwidth is {}, the limit is {} ({:.0f} % of a GPU's NVLinks)",
                  rate_text(busbw), rate_text(limit), 100 * efficiency),
              .numbers = {{"busbw", busbw, "B/s"}, {"limit", limit, "B/s"}}};
  if (busbw <= 0) check.set(Verdict::inconclusive, "NOT_MEASURED", "there is no bus bandwidth");
  return check;
}

void measure_all(Context& context, const std::string& stage, const std::vector<int>& hosts) {
  const RatePlan& plan = context.plan.full;
  const std::vector<int> ranks = context.hosts.ranks_of(hosts);
  context.journal.begin_stage(
      stage, fmt::format("{} on {}, {}", fmt::join(plan.programs, ", "),
                         counted(hosts.size(), "host"), counted(ranks.size(), "rank")));
  context.team.use_groups(context.hosts.group_of(hosts));
  const std::vector<Counters> counters = counted_during(context, stage, [&] {
    measure_rates(context, stage, plan, {"run"}, static_cast<int>(ranks.size()));
  });
  if (!context.plan.interface.empty() && hosts.size() > 1)
    context.journal.add(share_check(stage, counters, context.plan.interface));
  context.journal.end_stage();
}

void soak(Context& context) {
  context.journal.begin_stage(
      "soak",
      fmt::format("{} of {} for {:.0f} s, every call verified", context.plan.full.programs.front(),
                  size_text(largest(context.plan.full)), context.plan.soak_s));
  context.team.use_groups({});
  counted_during(context, "soak", [&] { context.journal.add(soak_check(context)); });
  context.journal.end_stage();
}

void measure_nodes(Context& context) {
  const RatePlan& plan = context.plan.node;
  std::vector<std::vector<int>> groups;
  std::vector<std::string> subjects;
  for (const Host& host : context.hosts.all()) {
    groups.push_back(host.ranks);
    subjects.push_back("host " + host.name);
  }
  context.journal.begin_stage(
      "node", fmt::format("{} inside {}", fmt::join(plan.programs, ", "),
                          groups.size() == 1 ? "the host"
                                             : fmt::format("each of {} hosts, all at the same time",
                                                           groups.size())));
  const int most = context.hosts.most_ranks();
  if (most < 2) {
    context.journal.add("node", Verdict::skipped, "ONE_RANK_PER_HOST", "hosts have one rank each");
  } else {
    context.team.use_groups(groups);
    counted_during(context, "node", [&] {
      check_nvlinks(context, measure_rates(context, "node", plan, subjects, most));
    });
  }
  context.journal.end_stage();
}

}  // namespace ccl_tests::acceptance
