#include "tools/acceptance/stages/measure_pairs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <map>

#include "src/core/error.hpp"
#include "src/measure/statistics.hpp"
#include "tools/acceptance/report/headline.hpp"
#include "tools/acceptance/search/blame.hpp"
#include "tools/acceptance/search/screen.hpp"
#include "tools/acceptance/stages/hosts.hpp"
#include "tools/acceptance/stages/pair_checks.hpp"
#include "tools/acceptance/stages/stages.hpp"

namespace ccl_tests::acceptance {

TeamMeasurer::TeamMeasurer(Team& team, const Hosts& hosts, const MessageSizes& sizes,
                           double seconds, std::size_t rail)
    : team_(team), hosts_(hosts), sizes_(sizes), seconds_(seconds), rail_(rail) {
  const auto cells =
      static_cast<std::size_t>(hosts.number()) * static_cast<std::size_t>(hosts.number());
  log_sums_.resize(cells);
  numbers_.resize(cells);
}

Transfer TeamMeasurer::transfer(const Measurement& found, int from, int to) {
  Transfer t{.seconds = found.seconds};
  const auto cell = static_cast<std::size_t>(from) * static_cast<std::size_t>(hosts_.number()) +
                    static_cast<std::size_t>(to);
  if (t.seconds > 0) {
    log_sums_[cell] += std::log(t.seconds);
    ++numbers_[cell];
  }
  sent_ += (found.stream ? found.stream->stamps * found.stream->calls_per_stamp : found.calls) *
           sizes_.bytes;
  if (!found.stream) return t;
  // Of stamps of several messages each, a percentile says nothing of one.
  if (found.stream->calls_per_stamp > 1 || found.stream->seconds.empty()) return t;
  const Statistics stamps = statistics(found.stream->seconds);
  t.p50 = stamps.p50;
  t.p95 = stamps.p95;
  t.operations = found.stream->seconds.size();
  return t;
}

std::vector<PairTimes> TeamMeasurer::measure(const Round& round) {
  std::vector<PairTimes> times;
  if (round.empty()) return times;
  std::vector<RankPair> forward, backward;
  for (const HostPair& pair : round) {
    const int a = hosts_[pair.a].ranks.at(rail_), b = hosts_[pair.b].ranks.at(rail_);
    forward.push_back({a, b});
    backward.push_back({b, a});
    times.push_back({pair, {}, {}});
  }
  const auto there = team_.times(forward, sizes_.bytes, seconds_);
  const auto back = team_.times(backward, sizes_.bytes, seconds_);
  for (std::size_t p = 0; p < times.size(); ++p) {
    times[p].forward = transfer(there.at(p), round[p].a, round[p].b);
    times[p].backward = transfer(back.at(p), round[p].b, round[p].a);
  }
  return times;
}

bool TeamMeasurer::enlarge() {
  constexpr std::size_t factor = 4;
  if (sizes_.bytes >= sizes_.most) return false;
  sizes_.bytes = std::min(factor * sizes_.bytes, sizes_.most);
  std::fill(log_sums_.begin(), log_sums_.end(), 0);
  std::fill(numbers_.begin(), numbers_.end(), 0);
  return true;
}

PairMatrix TeamMeasurer::matrix() const {
  PairMatrix matrix{.bytes = sizes_.bytes, .rail = rail_};
  const std::size_t hosts = hosts_.all().size();
  for (std::size_t cell = 0; cell < numbers_.size(); ++cell) {
    if (cell % hosts == 0) matrix.seconds.emplace_back();
    matrix.seconds.back().push_back(numbers_[cell] > 0 ? std::exp(log_sums_[cell] / numbers_[cell])
                                                       : std::numeric_limits<double>::quiet_NaN());
  }
  return matrix;
}

std::vector<int> racks_of(const Plan& plan, const Hosts& hosts) {
  std::vector<int> racks;
  std::map<std::size_t, int> numbers, members;  // of the racks that the job has hosts of
  for (int h = 0; h < hosts.number() && !plan.racks.empty(); ++h) {
    for (std::size_t r = 0; r < plan.racks.size(); ++r) {
      const auto& names = plan.racks[r];
      if (std::find(names.begin(), names.end(), hosts[h].name) == names.end()) continue;
      const int next = static_cast<int>(numbers.size());
      racks.push_back(numbers.try_emplace(r, next).first->second);
      ++members[r];
    }
    if (racks.size() != static_cast<std::size_t>(h) + 1)
      throw UsageError(fmt::format(
          "racks: {} is in none, or in two; accepted: each host of the job in one", hosts[h].name));
  }
  for (const auto& [rack, number] : members)
    if (number < 2)
      throw UsageError(
          fmt::format("racks: the job has one host of {}; accepted: two or more, or no racks",
                      fmt::join(plan.racks[rack], ", ")));
  return racks;
}

void measure_pairs(Context& context, const std::function<void()>& later) {
  const PairsPlan& plan = context.plan.pairs;
  const Hosts& hosts = context.hosts;
  const bool one = hosts.number() < 2;
  context.journal.begin_stage("pairs",
                              fmt::format("messages between {}, to find those that are {} slower",
                                          one ? "hosts" : counted(hosts.all().size(), "host"),
                                          fmt::format("{:.0f} %", 100 * plan.slowdown)));
  if (one) {
    context.journal.add({.id = "pairs/hosts",
                         .verdict = Verdict::skipped,
                         .reason = "ONE_HOST",
                         .text = "there is one host"});
    context.journal.end_stage();
    return;
  }
  const MessageSizes sizes = message_sizes(context);
  HostCount count(context.team, hosts);
  TeamMeasurer measurer(context.team, hosts, sizes, plan.seconds);
  SearchPlan search;
  search.slowdown = plan.slowdown;
  search.seed = context.seed;
  search.links = plan.links;
  search.rack_of = racks_of(context.plan, hosts);
  search.later = [&] {
    count.pause();
    later();
    count.go_on();
  };
  double rounds = 0;
  ReportingMeasurer told(measurer, context.journal, expected_rounds(plan, hosts.number()), rounds);
  const Findings findings = find_bad_hosts(told, hosts.number(), search);
  count.pause();
  add_pair_checks(context, findings, measurer.bytes());
  context.journal.add(wire_check(count.counts(), context.plan.interface, measurer.bytes_sent()));
  for (Check& check : error_checks("pairs", hosts, count.counts()))
    context.journal.add(std::move(check));
  context.journal.add(measurer.matrix());
  context.journal.end_stage();
}

namespace {

constexpr std::size_t rounds_beside = 6;  // in which rails are compared with each other

std::size_t rails_of(const Hosts& hosts) {
  std::size_t fewest = hosts[0].ranks.size();
  for (const HostRanks& host : hosts.all()) fewest = std::min(fewest, host.ranks.size());
  return fewest;
}

// The quarter of the messages that is fastest is slow only if all hosts are.
double fast_seconds(const std::vector<PairTimes>& times) {
  std::vector<double> all = seconds_of(times);
  if (all.empty()) return 0;
  const auto quarter = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 4);
  std::nth_element(all.begin(), quarter, all.end());
  return *quarter;
}

class Rails {
 public:
  Rails(Context& context, const MessageSizes& sizes)
      : context_(context), bytes_(sizes.bytes), rails_(rails_of(context.hosts)) {
    const ExpectedRounds one = expected_rounds(context.plan.pairs, context.hosts.number());
    rounds_ = {one.least * (rails_ - 1), one.most * (rails_ - 1)};
    rounds_.least += rounds_beside * rails_;
    rounds_.most += rounds_beside * rails_;
    for (std::size_t rail = 0; rail < rails_; ++rail)
      measurers_.emplace_back(context.team, context.hosts, sizes, context.plan.pairs.seconds, rail);
  }

  // All rails in turns, so that what changes from minute to minute changes all.
  void compare() {
    Random random(context_.seed);
    Tournaments tournaments(context_.hosts.everybody(), random);
    std::vector<std::vector<double>> effects(rails_);  // logarithms beside the round's median rail
    std::vector<double> all;
    for (std::size_t k = 0; k < rounds_beside; ++k) {
      const Round round = tournaments.next();
      std::vector<double> seconds;
      for (std::size_t rail = 0; rail < rails_; ++rail) {
        ReportingMeasurer told(measurers_[rail], context_.journal, rounds_, done_);
        seconds.push_back(fast_seconds(told.measure(round)));
      }
      const double middle = median(seconds);
      all.push_back(middle);
      for (std::size_t rail = 0; rail < rails_; ++rail)
        if (middle > 0 && seconds[rail] > 0)
          effects[rail].push_back(std::log(seconds[rail] / middle));
    }
    for (std::size_t rail = 0; rail < rails_; ++rail) add(rail, effects[rail], median(all));
  }

  // Hosts on one rail, and then on the next: what lies between two confirmations of a host.
  void search(std::size_t rail) {
    if (rail >= rails_) return;
    bool went_on = false;
    const auto next = [&] {
      if (!went_on) search(rail + 1);
      went_on = true;
    };
    SearchPlan plan;
    plan.slowdown = context_.plan.pairs.slowdown;
    plan.seed = context_.seed + rail;
    plan.rack_of = racks_of(context_.plan, context_.hosts);
    plan.later = next;
    ReportingMeasurer told(measurers_[rail], context_.journal, rounds_, done_);
    const Findings findings = find_bad_hosts(told, context_.hosts.number(), plan);
    next();
    add_rail_checks(context_, findings, measurers_[rail].bytes(), rail);
  }

  // What was measured of each rail; pairs has told of the first one.
  void add_matrices() const {
    for (std::size_t rail = 1; rail < rails_; ++rail)
      context_.journal.add(measurers_[rail].matrix());
  }

 private:
  // Two rails have no majority: the slower one is told, and which one is well is not.
  void add(std::size_t rail, const std::vector<double>& effects, double middle_s) {
    const double slowest = -std::log(1 - context_.plan.pairs.slowdown);
    Check check{.id = fmt::format("rails/{}", rail),
                .subject = fmt::format("rail {}", rail),
                .verdict = Verdict::pass,
                .reason = "OK",
                .numbers = {{"bandwidth", static_cast<double>(bytes_) / middle_s, "B/s"}}};
    if (effects.size() < rounds_beside) {
      check.set(Verdict::inconclusive, "NOT_MEASURED", "some rounds have no time");
      check.numbers.clear();
      return context_.journal.add(std::move(check));
    }
    const double effect = median(effects);
    check.numbers = {
        {"bandwidth", static_cast<double>(bytes_) / (middle_s * std::exp(effect)), "B/s"}};
    const auto slow_rounds =
        std::count_if(effects.begin(), effects.end(), [](double one) { return one > 0; });
    const bool slow = effect > slowest && slow_rounds == static_cast<std::ptrdiff_t>(rounds_beside);
    if (slow) {
      check.verdict = Verdict::warn;
      check.reason = "RAIL_SLOWER";
    }
    check.text =
        fmt::format("{} between hosts, {:.0f} % {} than the rails in the middle",
                    rate_text(check.numbers.front().value), 100 * std::abs(1 - std::exp(-effect)),
                    effect > 0 ? "slower" : "faster");
    context_.journal.add(std::move(check));
  }

  Context& context_;
  std::size_t bytes_, rails_;
  std::deque<TeamMeasurer> measurers_;  // by rail
  ExpectedRounds rounds_;
  double done_ = 0;  // rounds of all rails
};

}  // namespace

bool has_rails(const Plan& plan, const Hosts& hosts, bool gpus) {
  return plan.pairs.run && plan.pairs.rails.value_or(gpus) && hosts.number() > 1 &&
         rails_of(hosts) > 1;
}

void measure_rails(Context& context) {
  const Hosts& hosts = context.hosts;
  context.journal.begin_stage(
      "rails", fmt::format("messages between {}, from their ranks 0 to {} apart",
                           counted(hosts.all().size(), "host"), rails_of(hosts) - 1));
  Rails rails(context, message_sizes(context));
  rails.compare();
  if (hosts.number() >= static_cast<int>(fewest_named)) {
    rails.search(1);  // pairs have looked at the first one
  } else {
    context.journal.add({.id = "rails/hosts",
                         .verdict = Verdict::skipped,
                         .reason = "TOO_FEW_HOSTS",
                         .text = fmt::format("hosts are compared from {} on", fewest_named)});
  }
  rails.add_matrices();
  context.journal.end_stage();
}

namespace {

constexpr std::size_t pilot_bytes = 1 << 20;
constexpr std::size_t least_bytes = 64 << 10;
constexpr double messages_wanted = 50;  // of which a 95th percentile says something
constexpr double fewest_messages = 4;   // of which the median is not that of what a buffer takes

// Returns the largest power of two from least_bytes on that is at most `wanted` and most_message_bytes.
std::size_t power_of_two(double wanted) {
  std::size_t bytes = least_bytes;
  while (bytes < most_message_bytes && 2.0 * static_cast<double>(bytes) <= wanted) bytes *= 2;
  return bytes;
}

// Returns the times of a round of messages of `bytes`, seconds: of each pair there and back. 0: not measured.
std::vector<double> round_of(Context& context, std::size_t bytes) {
  TeamMeasurer measurer(context.team, context.hosts, {bytes, bytes}, context.plan.pairs.seconds);
  std::vector<double> seconds;
  for (const PairTimes& pair : measurer.measure(circle(context.hosts.number()).front()))
    for (const Transfer& way : {pair.forward, pair.backward}) seconds.push_back(way.seconds);
  return seconds;
}

}  // namespace

std::vector<double> seconds_of(const std::vector<PairTimes>& times) {
  std::vector<double> all;
  for (const PairTimes& pair : times)
    for (const Transfer& way : {pair.forward, pair.backward})
      if (way.seconds > 0) all.push_back(way.seconds);
  return all;
}

bool are_buffered(const std::vector<double>& seconds, std::size_t bytes,
                  const std::vector<double>& lasting, std::size_t lasting_bytes, double slowdown) {
  std::vector<double> faster;  // rate over that of the long messages
  for (std::size_t k = 0; k < std::min(seconds.size(), lasting.size()); ++k)
    if (seconds[k] > 0 && lasting[k] > 0)
      faster.push_back(static_cast<double>(bytes) / seconds[k] * lasting[k] /
                       static_cast<double>(lasting_bytes));
  if (faster.empty()) return false;
  const auto quarter = faster.end() - 1 - static_cast<std::ptrdiff_t>(faster.size() / 4);
  std::nth_element(faster.begin(), quarter, faster.end());
  return *quarter * (1 - slowdown / 2) > 1;
}

MessageSizes message_sizes(Context& context) {
  const PairsPlan& plan = context.plan.pairs;
  if (plan.bytes > 0) return {plan.bytes, plan.bytes};
  std::vector<double> seconds = round_of(context, pilot_bytes);
  std::erase_if(seconds, [](double one) { return !(one > 0); });
  if (seconds.empty()) return {pilot_bytes, pilot_bytes};
  const double rate = pilot_bytes / median(std::move(seconds));
  MessageSizes sizes{power_of_two(rate * plan.seconds / messages_wanted),
                     power_of_two(rate * plan.seconds / fewest_messages)};
  if (sizes.bytes >= sizes.most) return sizes;
  const std::vector<double> lasting = round_of(context, sizes.most);
  while (sizes.bytes < sizes.most && are_buffered(round_of(context, sizes.bytes), sizes.bytes,
                                                  lasting, sizes.most, plan.slowdown))
    sizes.bytes *= 2;
  return sizes;
}

}  // namespace ccl_tests::acceptance
