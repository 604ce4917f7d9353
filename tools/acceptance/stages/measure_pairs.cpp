#include "tools/acceptance/stages/stages.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>

#include "src/measure/statistics.hpp"
#include "tools/acceptance/report/writers.hpp"

namespace ccl_tests::acceptance {
namespace {

// The bytes of a message, and those that it may grow to.
struct MessageSizes {
  std::size_t bytes = 0, most = 0;
};

// Rank 0's. Keeps the mean of what it has measured of each pair, for the heat map.
class TeamMeasurer : public PairMeasurer {
 public:
  // rail: which rank of each host sends and receives, from 0; all hosts have it.
  TeamMeasurer(Context& context, const MessageSizes& sizes, std::size_t rail)
      : context_(context), sizes_(sizes), rail_(rail) {
    forget();
  }

  // Tells the journal of each round from now on. rounds: of the stage. done: its rounds so far, which it counts on.
  void report(const Expected& rounds, double& done) {
    expected_ = rounds;
    done_ = &done;
    own_ = 0;
  }
  std::vector<PairTimes> measure(const Round& round) override {
    std::vector<PairTimes> times;
    if (round.empty()) return times;
    std::vector<std::vector<int>> forward, backward;
    for (const HostPair& pair : round) {
      const int a = context_.hosts[pair.a].ranks.at(rail_);
      const int b = context_.hosts[pair.b].ranks.at(rail_);
      forward.push_back({a, b});
      backward.push_back({b, a});
      times.push_back({pair, {}, {}});
    }
    const double seconds = context_.plan.pairs.seconds;
    const auto there = context_.team.times(std::move(forward), sizes_.bytes, seconds);
    const auto back = context_.team.times(std::move(backward), sizes_.bytes, seconds);
    for (std::size_t p = 0; p < times.size(); ++p) {
      times[p].forward = transfer(there.at(p), round[p].a, round[p].b);
      times[p].backward = transfer(back.at(p), round[p].b, round[p].a);
    }
    if (done_ == nullptr) return times;
    ++*done_;
    ++own_;
    context_.journal.at({"round", *done_, expected_.least, expected_.most});
    return times;
  }
  bool enlarge() override {
    constexpr std::size_t factor = 4;
    if (sizes_.bytes >= sizes_.most) return false;
    sizes_.bytes = std::min(factor * sizes_.bytes, sizes_.most);
    forget();
    expected_.least += own_;  // the rounds so far come on top
    expected_.most += own_;
    own_ = 0;
    return true;
  }

  std::size_t bytes() const { return sizes_.bytes; }  // of a message, now
  std::uint64_t bytes_sent() const { return sent_; }  // by timed messages of all hosts
  // Returns the means of times of messages of bytes().
  PairMatrix matrix() const {
    PairMatrix matrix{.bytes = sizes_.bytes, .rail = rail_};
    for (std::size_t a = 0; a < numbers_.size(); ++a) {
      std::vector<double>& row = matrix.seconds.emplace_back();
      for (std::size_t b = 0; b < numbers_.size(); ++b)  // NaN of none
        row.push_back(std::exp(log_sums_[a][b] / numbers_[a][b]));
    }
    return matrix;
  }

 private:
  void forget() {
    const std::size_t hosts = context_.hosts.all().size();
    log_sums_.assign(hosts, std::vector<double>(hosts));
    numbers_.assign(hosts, std::vector<int>(hosts));
  }

  Transfer transfer(const Measurement& found, int from, int to) {
    Transfer t{.seconds = found.seconds};
    if (t.seconds > 0) {
      const auto a = static_cast<std::size_t>(from), b = static_cast<std::size_t>(to);
      log_sums_[a][b] += std::log(t.seconds);
      ++numbers_[a][b];
    }
    const auto& stream = found.stream;
    sent_ += (stream ? stream->stamps * stream->calls_per_stamp : found.calls) * sizes_.bytes;
    // A percentile of stamps of several messages each says nothing of one.
    if (!stream || stream->calls_per_stamp > 1 || stream->seconds.empty()) return t;
    const Statistics stamps = statistics(stream->seconds);
    t.p50 = stamps.p50;
    t.p95 = stamps.p95;
    t.operations = stream->seconds.size();
    return t;
  }

  Context& context_;
  MessageSizes sizes_;
  std::size_t rail_;
  std::vector<std::vector<double>> log_sums_;  // by the sending and the receiving host
  std::vector<std::vector<int>> numbers_;
  std::uint64_t sent_ = 0;
  Expected expected_;
  double* done_ = nullptr;
  double own_ = 0;  // reported since the last enlarge()
};

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
  TeamMeasurer measurer(context, {bytes, bytes}, 0);
  std::vector<double> seconds;
  for (const PairTimes& pair : measurer.measure(circle(context.hosts.number()).front()))
    for (const Transfer& way : {pair.forward, pair.backward}) seconds.push_back(way.seconds);
  return seconds;
}

// Returns the plan's size, which does not grow. Without one: the power of two of which about 50 messages fit into the
// time of a direction, or a larger one if buffers on the way make such messages faster than long ones. It may grow
// until 4 messages fit. Measures a few rounds. On rank 0.
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

constexpr std::size_t rounds_beside = 6;  // in which rails are compared with each other

std::size_t rails_of(const Hosts& hosts) {
  std::size_t fewest = hosts[0].ranks.size();
  for (const Host& host : hosts.all()) fewest = std::min(fewest, host.ranks.size());
  return fewest;
}

// Returns the time that a quarter of the messages is within, seconds: these are slow only if all hosts are. 0: none
// was measured.
double fast_seconds(const std::vector<PairTimes>& times) {
  std::vector<double> all;
  for (const PairTimes& pair : times)
    for (const Transfer& way : {pair.forward, pair.backward})
      if (way.seconds > 0) all.push_back(way.seconds);
  if (all.empty()) return 0;
  std::ranges::sort(all);
  return all[all.size() / 4];
}

class Rails {
 public:
  Rails(Context& context, const MessageSizes& sizes)
      : context_(context), bytes_(sizes.bytes), rails_(rails_of(context.hosts)) {
    const Expected one = expected_rounds(context.plan.pairs, context.hosts.number());
    const auto others = static_cast<double>(rails_ - 1);
    const auto beside = static_cast<double>(rounds_beside * rails_);
    rounds_ = {one.least * others + beside, one.most * others + beside};
    for (std::size_t rail = 0; rail < rails_; ++rail) measurers_.emplace_back(context, sizes, rail);
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
        measurers_[rail].report(rounds_, done_);
        seconds.push_back(fast_seconds(measurers_[rail].measure(round)));
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
    const SearchPlan plan{.slowdown = context_.plan.pairs.slowdown,
                          .seed = context_.seed + rail,
                          .rack_of = racks_of(context_.plan, context_.hosts),
                          .later = next};
    measurers_[rail].report(rounds_, done_);
    const Findings findings = find_bad_hosts(measurers_[rail], context_.hosts.number(), plan);
    next();
    add_rail_checks(context_, findings, measurers_[rail].bytes(), rail);
  }

  // Adds the times of each rail; pairs has told of the first one.
  void add_matrices() const {
    for (std::size_t rail = 1; rail < rails_; ++rail)
      context_.journal.add(measurers_[rail].matrix());
  }

 private:
  // Two rails have no majority: the slower one is told, and which one is well is not.
  void add(std::size_t rail, const std::vector<double>& effects, double middle_s) {
    Check check{.id = fmt::format("rails/{}", rail),
                .subject = fmt::format("rail {}", rail),
                .verdict = Verdict::pass,
                .reason = "OK"};
    if (effects.size() < rounds_beside) {
      check.set(Verdict::inconclusive, "NOT_MEASURED", "some rounds have no time");
      return context_.journal.add(std::move(check));
    }
    const double effect = median(effects);
    const double bandwidth = static_cast<double>(bytes_) / (middle_s * std::exp(effect));
    check.numbers = {{"bandwidth", bandwidth, "B/s"}};
    const bool always = std::ranges::all_of(effects, [](double one) { return one > 0; });
    if (always && effect > -std::log(1 - context_.plan.pairs.slowdown)) {
      check.verdict = Verdict::warn;
      check.reason = "RAIL_SLOWER";
    }
    check.text = fmt::format("{} between hosts, {:.0f} % {} than the rails in the middle",
                             rate_text(bandwidth), 100 * std::abs(1 - std::exp(-effect)),
                             effect > 0 ? "slower" : "faster");
    context_.journal.add(std::move(check));
  }

  Context& context_;
  std::size_t bytes_, rails_;
  std::deque<TeamMeasurer> measurers_;  // by rail
  Expected rounds_;
  double done_ = 0;  // rounds of all rails
};

}  // namespace

std::vector<int> racks_of(const Plan& plan, const Hosts& hosts) {
  std::vector<int> racks;
  if (plan.racks.empty()) return racks;
  std::map<std::size_t, int> numbers, members;  // of the racks that the job has hosts of
  for (const Host& host : hosts.all()) {
    const auto rack = std::ranges::find_if(plan.racks, [&](const auto& names) {
      return std::ranges::find(names, host.name) != names.end();
    });
    if (rack == plan.racks.end())
      throw UsageError(fmt::format(
          "racks: {} is in none, or in two; accepted: each host of the job in one", host.name));
    const auto r = static_cast<std::size_t>(rack - plan.racks.begin());
    racks.push_back(numbers.try_emplace(r, static_cast<int>(numbers.size())).first->second);
    ++members[r];
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
  context.journal.begin_stage(
      "pairs",
      fmt::format("messages between {}, to find those that are {:.0f} % slower",
                  one ? "hosts" : counted(hosts.all().size(), "host"), 100 * plan.slowdown));
  if (one) {
    context.journal.add("pairs/hosts", Verdict::skipped, "ONE_HOST", "there is one host");
    return context.journal.end_stage();
  }
  const MessageSizes sizes = message_sizes(context);
  HostCount count(context.team, hosts);
  TeamMeasurer measurer(context, sizes, 0);
  const SearchPlan search{.slowdown = plan.slowdown,
                          .seed = context.seed,
                          .links = plan.links,
                          .rack_of = racks_of(context.plan, hosts),
                          .later = [&] {
                            count.pause();
                            later();
                            count.go_on();
                          }};
  double rounds = 0;
  measurer.report(expected_rounds(plan, hosts.number()), rounds);
  const Findings findings = find_bad_hosts(measurer, hosts.number(), search);
  count.pause();
  add_pair_checks(context, findings, measurer.bytes());
  context.journal.add(wire_check(count.counts(), context.plan.interface, measurer.bytes_sent()));
  for (Check& check : error_checks("pairs", hosts, count.counts()))
    context.journal.add(std::move(check));
  context.journal.add(measurer.matrix());
  context.journal.end_stage();
}

bool are_buffered(const std::vector<double>& seconds, std::size_t bytes,
                  const std::vector<double>& lasting, std::size_t lasting_bytes, double slowdown) {
  std::vector<double> faster;  // rate over that of the long messages
  for (std::size_t k = 0; k < std::min(seconds.size(), lasting.size()); ++k)
    if (seconds[k] > 0 && lasting[k] > 0)
      faster.push_back(static_cast<double>(bytes) / seconds[k] * lasting[k] /
                       static_cast<double>(lasting_bytes));
  if (faster.empty()) return false;
  std::ranges::sort(faster, std::ranges::greater());
  return faster[faster.size() / 4] * (1 - slowdown / 2) > 1;
}

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
    context.journal.add("rails/hosts", Verdict::skipped, "TOO_FEW_HOSTS",
                        fmt::format("hosts are compared from {} on", fewest_named));
  }
  rails.add_matrices();
  context.journal.end_stage();
}

}  // namespace ccl_tests::acceptance
