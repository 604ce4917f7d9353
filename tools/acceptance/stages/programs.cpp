#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "collectives/collectives.hpp"
#include "src/measure/statistics.hpp"
#include "src/options/values.hpp"
#include "tools/acceptance/report/writers.hpp"
#include "tools/acceptance/stages/stages.hpp"

namespace ccl_tests::acceptance {
namespace {

constexpr std::size_t elements = 1021;  // a prime: no rank count divides it
// A prime number of the widest elements, a little over what libraries divide evenly among blocks of threads.
constexpr std::size_t many_bytes = 65539 * sizeof(double);

// The first operation that is defined on the type; all of them on the first type.
std::vector<std::optional<ReduceOp>> ops_to_try(const Collective& program, DataType type,
                                                bool first) {
  if (!program.domain.reduces) return {std::nullopt};
  std::vector<std::optional<ReduceOp>> ops;
  for (const ReduceOp op : ops_of(type)) {
    const auto& defined = program.domain.ops;
    if (!defined.empty() && std::ranges::find(defined, op) == defined.end()) continue;
    ops.emplace_back(op);
    if (!first) break;
  }
  return ops;
}

std::vector<DataType> types_of(const Collective& program) {
  const auto& defined = program.domain.types;
  if (!defined.empty()) return {defined.begin(), defined.end()};
  if (program.domain.reduces || program.needs.step_times) {
    std::vector<DataType> all(all_types().begin(), all_types().end());
    std::stable_partition(all.begin(), all.end(),
                          [](DataType type) { return type == DataType::float32; });
    return all;
  }
  return {DataType::float32, DataType::uint8};  // data are moved by their width alone
}

void check_program(Context& context, const Collective& program) {
  Team& team = context.team;
  const std::string name(program.name), id = "sanity/" + name;
  auto why = why_never(program, team);
  if (!why && program.unsupported != nullptr)
    why = program.unsupported({elements, 4, {0, team.rank().ranks(), 0}, team.spec()});
  if (why) return context.journal.add(id, Verdict::skipped, "UNSUPPORTED", name + ": " + *why);
  Verified verified;
  bool first = true;
  for (const DataType type : types_of(program)) {
    for (const auto& op : ops_to_try(program, type, first)) {
      if (team.library().why_not(type, op)) continue;
      verified.add(team.checked_rows(program, type, op, elements * size_of(type)));
      if (first) verified.add(team.checked_rows(program, type, op, many_bytes));
    }
    first = false;
  }
  context.journal.add(verified.check(id, name));
}

constexpr int most_tries = 40;

std::ptrdiff_t at(std::size_t n) { return static_cast<std::ptrdiff_t>(n); }

// The hosts in the order of one try. The first `clean` passed together before.
class Prefixes {
 public:
  Prefixes(const SetTest& passes, std::vector<int> hosts, Random& random)
      : passes_(passes), hosts_(std::move(hosts)), random_(random) {
    shuffle(hosts_, random_);
  }

  PrefixFindings run() {
    PrefixFindings found;
    for (int tries = 0; tries < most_tries && hosts_.size() > 1 && !all_pass(); ++tries) {
      const std::size_t length = smallest_that_fails();
      if (found.fails_from == 0 || length < found.fails_from) found.fails_from = length;
      if (last_is_bad(length)) {
        found.named.push_back(hosts_[length - 1]);
        hosts_.erase(hosts_.begin() + at(length - 1));
        clean_ = std::max(clean_, length - 1);
        turned_ = false;
        full_fails_ = false;
      } else {
        reorder(length);
      }
    }
    return found;
  }

 private:
  bool all_pass() {
    if (!full_fails_) full_fails_ = !passes_(hosts_);
    return !full_fails_;
  }
  std::vector<int> prefix(std::size_t length) const {
    return {hosts_.begin(), hosts_.begin() + at(length)};
  }

  std::size_t smallest_that_fails() {
    std::size_t good = std::max<std::size_t>(clean_, 1), bad = hosts_.size();
    while (bad - good > 1) {
      const std::size_t middle = (good + bad) / 2;
      (passes_(prefix(middle)) ? good : bad) = middle;
    }
    return bad;
  }

  bool last_is_bad(std::size_t length) {
    if (length == hosts_.size()) return false;  // no other host to put in its place
    std::vector<int> replaced = prefix(length);
    replaced.back() = hosts_[length + below(random_, hosts_.size() - length)];
    return passes_(replaced) && !passes_(prefix(length));
  }

  // A bad host among the first ones makes every prefix fail from the needed size on: it has to come
  // last. The clean prefix stays.
  void reorder(std::size_t length) {
    if (clean_ > 0 || turned_ || length == hosts_.size()) {
      std::vector<int> rest(hosts_.begin() + at(clean_), hosts_.end());
      shuffle(rest, random_);
      std::ranges::copy(rest, hosts_.begin() + at(clean_));
    } else {
      std::rotate(hosts_.begin(), hosts_.begin() + at(length), hosts_.end());
    }
    turned_ = !turned_;
  }

  const SetTest& passes_;
  std::vector<int> hosts_;
  Random& random_;
  std::size_t clean_ = 0;
  bool turned_ = false, full_fails_ = false;
};

// Returns the bandwidth of some hosts together, bytes per second.
using Bandwidth = std::function<double(const std::vector<int>& hosts)>;

void find_who(Context& context, const Bandwidth& bandwidth, const std::vector<int>& hosts,
              double least) {
  constexpr int looks = 5;
  constexpr std::size_t most_repeats = 16;
  const double slowdown = 1 - context.plan.scaling.min_efficiency;
  std::vector<double> logarithms;
  for (int k = 0; k < looks; ++k) logarithms.push_back(std::log(std::max(1.0, bandwidth(hosts))));
  const double sigma = deviation_from_median(std::move(logarithms));
  const std::size_t repeats = repeats_per_test(sigma, slowdown);
  const auto not_named = [&](const char* reason, std::string text) {
    context.journal.add({.id = "scaling/hosts",
                         .verdict = Verdict::inconclusive,
                         .reason = reason,
                         .text = std::move(text),
                         .numbers = {{"sigma", sigma}}});
  };
  if (repeats > most_repeats)
    return not_named(
        "TOO_NOISY",
        fmt::format("bandwidths of the same hosts differ by {:.0f} %: nobody can be told",
                    100 * sigma));
  Random random(context.seed + 1);
  const auto passes = [&](const std::vector<int>& some) {
    if (some.size() < 2) return true;
    std::vector<double> reached;
    for (std::size_t k = 0; k < repeats; ++k) reached.push_back(bandwidth(some));
    return median(reached) >= least;
  };
  const PrefixFindings found = prefix_search(passes, hosts, random);
  for (const int host : found.named)
    context.journal.add(
        "scaling/host/" + context.hosts[host].name, Verdict::fail, "SLOW_AT_SCALE",
        fmt::format("with it {} hosts are slow, with another one they are not", found.fails_from),
        "host " + context.hosts[host].name);
  if (found.named.empty())
    not_named("NOT_ISOLATED",
              fmt::format("slow from {} hosts on; no host could be told from the others",
                          found.fails_from));
}

}  // namespace

std::size_t repeats_per_test(double sigma, double slowdown) {
  const double share = 8.3 * sigma / -std::log1p(-slowdown);
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(share * share)));
}

PrefixFindings prefix_search(const SetTest& passes, std::vector<int> hosts, Random& random) {
  return Prefixes(passes, std::move(hosts), random).run();
}

void check_programs(Context& context) {
  context.journal.begin_stage("sanity",
                              "every program on its types, at odd sizes, each call verified");
  std::vector<const Collective*> programs;
  for (const Collective* program : collectives::all())
    if (!program->domain.paired && program->domain.sweeps) programs.push_back(program);
  const auto number = static_cast<double>(programs.size());
  for (std::size_t done = 0; done < programs.size(); ++done) {
    context.journal.at({"program", static_cast<double>(done), number, number});
    check_program(context, *programs[done]);
  }
  context.journal.end_stage();
}

void measure_scaling(Context& context) {
  const ScalingPlan& plan = context.plan.scaling;
  const Collective& program = program_named(plan.program);
  const std::size_t bytes = plan.bytes > 0 ? plan.bytes : largest(context.plan.full);
  std::vector<int> order = context.hosts.everybody();
  context.journal.begin_stage(
      "scaling", fmt::format("{} of {} on {}{}", plan.program, size_text(bytes),
                             order.size() > 2 ? "2 to " : "", counted(order.size(), "host")));
  const auto unsupported = why_not(program, context.team, context.team.rank().ranks());
  if (order.size() < 3 || unsupported) {
    context.journal.add("scaling", Verdict::skipped, unsupported ? "UNSUPPORTED" : "TOO_FEW_HOSTS",
                        unsupported.value_or("a ladder needs 3 hosts"));
    return context.journal.end_stage();
  }
  Random random(context.seed);
  shuffle(order, random);
  std::string wrong;
  const auto bandwidth = [&](const std::vector<int>& hosts) {  // the median of some
    constexpr int times = 3;
    context.team.use_groups(context.hosts.group_of(hosts));
    std::vector<double> found;
    for (int k = 0; k < times; ++k) {
      const PointRows rows = context.team.rows(program, bytes, context.plan.full.seconds / times);
      if (!rows.wrong.empty()) wrong = rows.wrong.front();
      found.push_back(bus_bandwidth(rows.rows.front()).value);
    }
    return median(found);
  };
  double reference = 0;
  bool slow = false;
  std::vector<std::size_t> steps;  // 2, 4, 8, ... and all
  for (std::size_t n = 2; n < order.size(); n *= 2) steps.push_back(n);
  steps.push_back(order.size());
  Part part{"step", 0, static_cast<double>(steps.size()), static_cast<double>(steps.size())};
  for (const std::size_t n : steps) {
    const double reached = bandwidth({order.begin(), order.begin() + at(n)});
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
      check.set(Verdict::inconclusive, "NOT_MEASURED", check.text);
    } else if (reached < least) {
      // A library may scale so: a host is blamed below, if one is to blame.
      check.set(Verdict::warn, "SCALES_BADLY", check.text);
      slow = true;
    }
    context.journal.add(std::move(check));
    ++part.done;
    context.journal.at(part);
  }
  if (!wrong.empty()) context.journal.add("scaling/data", Verdict::fail, "WRONG_DATA", wrong);
  if (slow && plan.find) find_who(context, bandwidth, order, plan.min_efficiency * reference);
  context.journal.end_stage();
}

}  // namespace ccl_tests::acceptance
