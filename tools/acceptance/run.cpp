#include "tools/acceptance/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/core/version.hpp"
#include "tools/acceptance/facts.hpp"
#include "tools/acceptance/report/verdict_json.hpp"
#include "tools/acceptance/stages.hpp"

namespace ccl_tests::acceptance {
namespace {

// On the rank's thread.
std::string answer(const std::string& question) {
  constexpr std::string_view wire = "wire ";
  if (question == "facts") return to_text(host_facts());
  if (question == "counters") return to_text(host_counters());
  if (question.starts_with(wire)) {
    const std::string name = question.substr(wire.size());
    const std::vector<std::string> all = wires();
    return std::to_string(!name.empty() ? wire_rate(name)
                          : all.empty() ? 0
                                        : wire_rate(all.front()));
  }
  throw Error("rank 0 asks for " + question);
}

Record header(const Rank& rank, const Arguments& arguments, const Plan& plan, const Hosts& hosts) {
  const Process& process = rank.process();
  Record record{
      .plan = plan.name,
      .version = std::string(version()),
      .backend = process.backend.name(),
      .library = process.backend.info().version,
      .launcher = process.launch.launcher,
      .command = fmt::format("ccl_acceptance {}", fmt::join(process.options.arguments, " ")),
      .seed = arguments.options.check.seed};
  for (const HostRanks& host : hosts.all()) record.hosts.push_back({host.name, host.ranks, {}});
  return record;
}

// Nothing that was looked at knows how fast these machines should be.
bool has_ceiling(const Record& record) {
  return std::any_of(record.checks.begin(), record.checks.end(), [](const Check& check) {
    return check.verdict != Verdict::skipped &&
           std::any_of(check.numbers.begin(), check.numbers.end(),
                       [](const Number& number) { return number.name == "limit"; }) &&
           check.stage != "scaling";
  });
}

std::vector<int> without(const std::vector<int>& hosts, const std::vector<int>& left_out) {
  std::vector<int> rest;
  for (const int host : hosts)
    if (std::find(left_out.begin(), left_out.end(), host) == left_out.end()) rest.push_back(host);
  return rest;
}

Record record_in(const std::string& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw UsageError(fmt::format("--resume: {} cannot be read", quote(file)));
  try {
    return read_verdict(text.str());
  } catch (const Error& e) {
    throw UsageError(fmt::format("--resume: {}: {}", quote(file), e.what()));
  }
}

// Of the run that is resumed.
std::vector<int> blamed_before(const Record& record, const Hosts& hosts) {
  std::vector<int> blamed;
  for (int h = 0; h < hosts.number(); ++h)
    for (const Check& check : record.checks)
      if (check.stage == "pairs" && check.verdict == Verdict::fail &&
          check.subject == "host " + hosts[h].name)
        blamed.push_back(h);
  return blamed;
}

void lead(Context& context) {
  const Plan& plan = context.plan;
  const auto is_left = [&](const char* stage, bool planned) {
    return planned && !context.journal.has(stage);
  };
  std::vector<int> everybody;
  for (int h = 0; h < context.hosts.number(); ++h) everybody.push_back(h);
  if (is_left("hosts", true)) compare_hosts(context);
  if (is_left("programs", plan.sanity)) check_programs(context);
  if (is_left("node", plan.node.run)) measure_nodes(context);
  const auto together = [&] {
    if (is_left("full", plan.full.run)) measure_all(context, "full", everybody);
    if (is_left("scaling", plan.scaling.run)) measure_scaling(context, everybody);
    if (is_left("soak", plan.soak.seconds > 0)) soak(context);
  };
  std::vector<int> blamed = blamed_before(context.journal.judged(), context.hosts);
  if (is_left("pairs", plan.pairs.run)) {
    blamed = measure_pairs(context, together);
  } else {
    together();
  }
  const std::vector<int> rest = without(everybody, blamed);
  std::vector<std::string> names;
  for (const int host : blamed) names.push_back(context.hosts[host].name);
  context.journal.exclude(names);
  if (!blamed.empty() && !rest.empty() && is_left("rest", plan.full.run))
    measure_all(context, "rest", rest);
}

}  // namespace

int run(Rank& rank, const Arguments& arguments, const Plan& plan, verify::PatternCache& patterns,
        Journal* journal) {
  const Hosts hosts(rank.table());
  if (rank.is_first()) {
    journal->begin(header(rank, arguments, plan, hosts));
    if (!arguments.resume.empty()) journal->resume(record_in(arguments.resume));
  }
  rank.activity().phase("connecting the library under test");
  Team team(rank, arguments.options, patterns, answer);
  if (!rank.is_first()) {
    team.follow();
    return rank.agree(0);
  }
  Context context{team, plan, hosts, *journal, arguments.options.check.seed};
  lead(context);
  if (!has_ceiling(journal->judged())) {
    journal->begin_stage("ceiling", "does anything say how fast these machines should be?");
    journal->add(
        {.id = "ceiling",
         .subject = "run",
         .verdict = Verdict::inconclusive,
         .reason = "NO_CEILING",
         .text = "all hosts may be slow alike: no limit was given, and no wire says its rate"});
    journal->end_stage();
  }
  journal->complete();
  team.end();
  return rank.agree(exit_code_of(journal->judged()));
}

int exit_code_of(const Record& record) {
  switch (record.verdict) {
    case Verdict::pass:
    case Verdict::warn: return exit_code(Exit::passed);
    case Verdict::skipped:
    case Verdict::inconclusive: return exit_code(Exit::inconclusive);
    case Verdict::fail: break;
  }
  const auto says = [&](const char* reason) {
    return std::any_of(record.checks.begin(), record.checks.end(), [&](const Check& check) {
      return check.verdict == Verdict::fail && check.reason == reason;
    });
  };
  if (says("WRONG_DATA")) return exit_code(Exit::wrong_data);
  if (says("HOST_LOST") || says("WRONG_WIRE")) return exit_code(Exit::failed);
  return exit_code(Exit::too_slow);
}

}  // namespace ccl_tests::acceptance
