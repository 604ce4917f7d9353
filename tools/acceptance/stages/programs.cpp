#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "collectives/collectives.hpp"
#include "src/core/capabilities.hpp"
#include "src/measure/statistics.hpp"
#include "src/options/values.hpp"
#include "tools/acceptance/report/headline.hpp"
#include "tools/acceptance/search/prefix_search.hpp"
#include "tools/acceptance/stages/rates.hpp"
#include "tools/acceptance/stages/stages.hpp"
#include "tools/acceptance/team.hpp"

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
    if (!defined.empty() && std::find(defined.begin(), defined.end(), op) == defined.end())
      continue;
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

class Program {
 public:
  Program(Context& context, const Collective& program) : context_(context), program_(program) {}

  void run() {
    const Capabilities& library = context_.team.library();
    if (const auto why = why_never(program_, context_.team)) return skip(*why);
    const Shape shape{elements, 4, {0, context_.team.rank().ranks(), 0}, context_.team.spec()};
    if (program_.unsupported != nullptr)
      if (const auto why = program_.unsupported(shape)) return skip(*why);
    bool first = true;
    for (const DataType type : types_of(program_)) {
      for (const auto& op : ops_to_try(program_, type, first)) {
        if (library.why_not(type, op)) continue;
        verified_.add(
            context_.team.checked_rows(program_.name, type, op, elements * size_of(type)));
        if (first) verified_.add(context_.team.checked_rows(program_.name, type, op, many_bytes));
      }
      first = false;
    }
    context_.journal.add(verified_.check(id(), std::string(program_.name)));
  }

 private:
  void skip(const std::string& why) {
    context_.journal.add({.id = id(),
                          .verdict = Verdict::skipped,
                          .reason = "UNSUPPORTED",
                          .text = std::string(program_.name) + ": " + why});
  }
  std::string id() const { return fmt::format("sanity/{}", program_.name); }

  Context& context_;
  const Collective& program_;
  Verified verified_;
};

}  // namespace

void check_programs(Context& context) {
  context.journal.begin_stage("sanity",
                              "every program on its types, at odd sizes, each call verified");
  const auto all = collectives::all();
  std::vector<const Collective*> programs(all.begin(), all.end());
  std::erase_if(programs, [](const Collective* program) {
    return program->domain.paired || !program->domain.sweeps;
  });
  const auto number = static_cast<double>(programs.size());
  for (std::size_t done = 0; done < programs.size(); ++done) {
    context.journal.at({"program", static_cast<double>(done), number, number});
    Program(context, *programs[done]).run();
  }
  context.journal.end_stage();
}

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
