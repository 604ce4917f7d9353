// Messages between the other ranks of each host: a host may have a network card for each GPU.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>

#include "src/measure/statistics.hpp"
#include "tools/acceptance/blame.hpp"
#include "tools/acceptance/limits.hpp"
#include "tools/acceptance/message_bytes.hpp"
#include "tools/acceptance/pair_checks.hpp"
#include "tools/acceptance/report/words.hpp"
#include "tools/acceptance/stages.hpp"
#include "tools/acceptance/team_measurer.hpp"
#include "tools/acceptance/told_measurer.hpp"

namespace ccl_tests::acceptance {
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
        ToldMeasurer told(measurers_[rail], context_.journal, rounds_, done_);
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
    ToldMeasurer told(measurers_[rail], context_.journal, rounds_, done_);
    const Findings findings = find_bad_hosts(told, context_.hosts.everybody(), plan);
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
      check.verdict = Verdict::inconclusive;
      check.reason = "NOT_MEASURED";
      check.text = "some rounds have no time";
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
                         .subject = "run",
                         .verdict = Verdict::skipped,
                         .reason = "TOO_FEW_HOSTS",
                         .text = fmt::format("hosts are compared from {} on", fewest_named)});
  }
  rails.add_matrices();
  context.journal.end_stage();
}

}  // namespace ccl_tests::acceptance
