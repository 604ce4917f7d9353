// From two hosts to all: where does it stop to scale, and because of whom?
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "src/measure/statistics.hpp"
#include "src/options/values.hpp"
#include "tools/acceptance/report/words.hpp"
#include "tools/acceptance/search/prefix_search.hpp"
#include "tools/acceptance/stages/rates.hpp"
#include "tools/acceptance/stages/stages.hpp"
#include "tools/acceptance/team.hpp"

namespace ccl_tests::acceptance {
namespace {

// How fast sets of hosts are, by one program and size.
class Ladder {
 public:
  Ladder(Context& context, std::size_t bytes)
      : context_(context), bytes_(bytes), program_(program_named(context.plan.scaling.program)) {}

  // Returns the median of some bus bandwidths of these hosts. Bytes per second.
  double bandwidth(const std::vector<int>& hosts) {
    constexpr int times = 3;
    const bool everybody = static_cast<int>(hosts.size()) == context_.hosts.number();
    context_.team.use_groups(everybody
                                 ? std::vector<std::vector<int>>()
                                 : std::vector<std::vector<int>>{context_.hosts.ranks_of(hosts)});
    std::vector<double> found;
    for (int k = 0; k < times; ++k) {
      const PointRows rows =
          context_.team.rows(program_.name, usual_type(program_), usual_op(program_), bytes_,
                             context_.plan.full.seconds / times);
      if (!rows.wrong.empty()) wrong_ = rows.wrong.front();
      found.push_back(bus_bandwidth(rows.rows.front()).value);
    }
    return median(found);
  }

  const std::string& wrong() const { return wrong_; }  // what verification found; empty: nothing

 private:
  Context& context_;
  std::size_t bytes_;
  std::string wrong_;
  const Collective& program_;
};

std::vector<int> first_of(const std::vector<int>& hosts, std::size_t number) {
  return {hosts.begin(), hosts.begin() + static_cast<std::ptrdiff_t>(number)};
}

// 2, 4, 8, ... and all.
std::vector<std::size_t> steps_to(std::size_t hosts) {
  std::vector<std::size_t> steps;
  for (std::size_t n = 2; n < hosts; n *= 2) steps.push_back(n);
  steps.push_back(hosts);
  return steps;
}

// How much the bandwidth of the same hosts differs from time to time: natural logarithms.
double noise_of(Ladder& ladder, const std::vector<int>& hosts) {
  constexpr int times = 5;
  std::vector<double> found;
  for (int k = 0; k < times; ++k) found.push_back(std::log(std::max(1.0, ladder.bandwidth(hosts))));
  return deviation_from_median(std::move(found));
}

void find_who(Context& context, Ladder& ladder, const std::vector<int>& hosts, double least) {
  constexpr std::size_t most_repeats = 16;
  const double slowdown = 1 - context.plan.scaling.min_efficiency;
  const double sigma = noise_of(ladder, hosts);
  const std::size_t repeats = repeats_per_test(sigma, slowdown);
  Check none{
      .id = "scaling/hosts", .verdict = Verdict::inconclusive, .numbers = {{"sigma", sigma}}};
  if (repeats > most_repeats) {
    none.reason = "TOO_NOISY";
    none.text = fmt::format("bandwidths of the same hosts differ by {:.0f} %: nobody can be told",
                            100 * sigma);
    return context.journal.add(none);
  }
  Random random(context.seed + 1);
  const auto passes = [&](const std::vector<int>& some) {
    if (some.size() < 2) return true;
    std::vector<double> reached;
    for (std::size_t k = 0; k < repeats; ++k) reached.push_back(ladder.bandwidth(some));
    return median(reached) >= least;
  };
  const PrefixFindings found = prefix_search(passes, hosts, random);
  for (const int host : found.named)
    context.journal.add(
        {.id = "scaling/host/" + context.hosts[host].name,
         .subject = "host " + context.hosts[host].name,
         .verdict = Verdict::fail,
         .reason = "SLOW_AT_SCALE",
         .text = fmt::format("with it {} hosts are slow, with another one they are not",
                             found.fails_from)});
  if (!found.named.empty()) return;
  none.reason = "NOT_ISOLATED";
  none.text =
      fmt::format("slow from {} hosts on; no host could be told from the others", found.fails_from);
  context.journal.add(none);
}

}  // namespace

void measure_scaling(Context& context, const std::vector<int>& hosts) {
  const ScalingPlan& plan = context.plan.scaling;
  const std::size_t bytes = plan.bytes > 0 ? plan.bytes : largest(context.plan.full);
  const std::string on = counted(hosts.size(), "host");
  context.journal.begin_stage("scaling",
                              fmt::format("{} of {} on {}{}", plan.program, size_text(bytes),
                                          hosts.size() > 2 ? "2 to " : "", on));
  const auto unsupported = why_not(program_named(plan.program), context.team,
                                   static_cast<int>(context.hosts.ranks_of(hosts).size()));
  if (hosts.size() < 3 || unsupported) {
    context.journal.add({.id = "scaling",
                         .verdict = Verdict::skipped,
                         .reason = unsupported ? "UNSUPPORTED" : "TOO_FEW_HOSTS",
                         .text = unsupported.value_or("a ladder needs 3 hosts")});
    context.journal.end_stage();
    return;
  }
  Random random(context.seed);
  std::vector<int> order = hosts;
  shuffle(order, random);
  Ladder ladder(context, bytes);
  double reference = 0;
  bool slow = false;
  const std::vector<std::size_t> steps = steps_to(order.size());
  Part part{"step", 0, static_cast<double>(steps.size()), static_cast<double>(steps.size())};
  for (const std::size_t n : steps) {
    const double reached = ladder.bandwidth(first_of(order, n));
    if (n == 2) reference = reached;
    const double least = plan.min_efficiency * reference;
    Check check{
        .id = fmt::format("scaling/{}", n),
        .verdict = Verdict::pass,
        .reason = "OK",
        .text = fmt::format("{} hosts: {}, {:.0f} % of two hosts'", n, rate_text(reached),
                            reference > 0 ? 100 * reached / reference : 0),
        .numbers = {
            {"hosts", static_cast<double>(n)}, {"busbw", reached, "B/s"}, {"limit", least, "B/s"}}};
    if (reached <= 0) {
      check.verdict = Verdict::inconclusive;
      check.reason = "NOT_MEASURED";
    } else if (reached < least) {
      check.verdict =
          Verdict::warn;  // a library may scale so: a host is blamed below, if one is to blame
      check.reason = "SCALES_BADLY";
      slow = true;
    }
    context.journal.add(std::move(check));
    ++part.done;
    context.journal.at(part);
  }
  if (!ladder.wrong().empty())
    context.journal.add({.id = "scaling/data",
                         .verdict = Verdict::fail,
                         .reason = "WRONG_DATA",
                         .text = ladder.wrong()});
  if (slow && plan.find) find_who(context, ladder, order, plan.min_efficiency * reference);
  context.journal.end_stage();
}

}  // namespace ccl_tests::acceptance
