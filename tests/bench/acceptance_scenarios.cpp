// What one launch of the search for bad hosts takes and finds, in the scenarios that relaunching searches publish figures of:
// acceptance_scenarios [LAUNCHES [SEED]]. LAUNCHES (100) of each; links, whose full tournament takes longer, a fifth of that. Times are computed: two
// directions of 0.2 s and 0.1 s between rounds. Noise as in acceptance_truth.cpp: a quiet cluster, b a cloud, c a shared machine.
// Ends with 1 if fewer than nine tenths of a line's faults were found, or more than one launch in 50 named what is well.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include "tests/unit/acceptance_noise.hpp"

namespace {

using namespace ccl_tests::acceptance;
using namespace ccl_tests::acceptance::test;

constexpr int rack_hosts = 8;

struct Scenario {
  std::string name;
  int hosts = 0;
  std::vector<int> bad = {};         // hosts that are slow in both directions
  std::vector<HostPair> links = {};  // between hosts that are well
  std::vector<int> racks = {};       // whose uplinks are slow
  bool in_racks = false;             // the plan says which hosts share a switch
  bool look_at_links = false;
};

// What is planted is 30 % slower.
const double fault = slow(0.3);

int rack_of(int host) { return host / rack_hosts; }

void plant(const Scenario& scenario, Fabric& fabric) {
  for (const int host : scenario.bad) fabric.bad_hosts.push_back({host, fault, fault});
  for (const HostPair& link : scenario.links)
    fabric.bad_links.push_back({link.a, link.b, fault, fault});
  if (scenario.racks.empty()) return;
  fabric.contention = [racks = scenario.racks](const Round&, int from, int to) {
    const auto is_slow = [&](int host) {
      return std::find(racks.begin(), racks.end(), rack_of(host)) != racks.end();
    };
    return rack_of(from) != rack_of(to) && (is_slow(from) || is_slow(to)) ? fault : 0;
  };
}

bool is_planted(const std::vector<HostPair>& links, const HostPair& found) {
  return std::any_of(links.begin(), links.end(), [&](const HostPair& link) {
    return std::minmax(link.a, link.b) == std::minmax(found.a, found.b);
  });
}

// Planted faults that were named, and hosts, links and racks that are well.
struct Names {
  std::size_t right = 0, wrong = 0;
  void add(bool planted) { ++(planted ? right : wrong); }
};

Names names_of(const Findings& found, const Scenario& scenario) {
  Names names;
  const auto contains = [](const std::vector<int>& all, int one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  for (const int host : named(found)) names.add(contains(scenario.bad, host));
  for (const UplinkFinding& one : found.uplinks) names.add(contains(scenario.racks, one.rack));
  for (const LinkFinding& one : found.links) names.add(is_planted(scenario.links, one.hosts));
  return names;
}

// Returns whether nine tenths of what was planted were found, and at most one launch in 50 named what is well.
bool print_row(const Scenario& scenario, const NoiseShape& noise, int launches,
               std::uint64_t seed) {
  constexpr double direction_s = 0.2, between_s = 0.1;
  Launch launch;
  launch.noise = noise;
  launch.hosts = scenario.hosts;
  launch.prepare = [&](Fabric& fabric) { plant(scenario, fabric); };
  launch.plan.links = scenario.look_at_links;
  for (int host = 0; host < scenario.hosts && scenario.in_racks; ++host)
    launch.plan.rack_of.push_back(rack_of(host));
  double rounds = 0, right = 0;
  int with_false_names = 0, open = 0;
  for (int k = 0; k < launches; ++k) {
    const Findings found = launch.run(seed * 1000003 + static_cast<std::uint64_t>(k));
    const Names names = names_of(found, scenario);
    rounds += static_cast<double>(found.rounds) / launches;
    right += static_cast<double>(names.right) / launches;
    with_false_names += names.wrong > 0 ? 1 : 0;
    open += found.reasons.empty() ? 0 : 1;
  }
  const auto planted =
      static_cast<double>(scenario.bad.size() + scenario.links.size() + scenario.racks.size());
  fmt::print("| {} | {} | {} | {:.0f} | {:.0f} | {:.0f} s | {} | {} | {} |\n", scenario.name,
             scenario.hosts, noise.name, rounds, rounds * scenario.hosts / 2,
             rounds * (2 * direction_s + between_s),
             planted > 0 ? fmt::format("{:.2f}", right / planted) : "-", with_false_names, open);
  std::fflush(stdout);
  return (planted <= 0 || right / planted >= 0.9) && 50 * with_false_names <= launches;
}

}  // namespace

int main(int argc, char** argv) {
  const int launches = argc > 1 ? std::atoi(argv[1]) : 100;
  const std::uint64_t seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  if (launches < 5 || argc > 3) {
    fmt::print(stderr, "acceptance_scenarios: [LAUNCHES [SEED]]; accepted: 5 launches or more\n");
    return 2;
  }
  const std::vector<Scenario> scenarios = {
      {.name = "healthy", .hosts = 232},
      {.name = "1 bad host", .hosts = 232, .bad = {17}},
      {.name = "3 bad hosts", .hosts = 232, .bad = {17, 18, 200}},
      {.name = "5 bad hosts", .hosts = 232, .bad = {3, 17, 18, 99, 200}},
      {.name = "healthy, racks of 8", .hosts = 232, .in_racks = true},
      {.name = "1 slow uplink, racks of 8", .hosts = 232, .racks = {4}, .in_racks = true},
      {.name = "1 slow link", .hosts = 64, .links = {{5, 40}}, .look_at_links = true},
      {.name = "1 slow link", .hosts = 232, .links = {{5, 140}}, .look_at_links = true},
  };
  fmt::print("{} launches (links: {}), seed {}; what is planted is 30 % slower\n\n", launches,
             launches / 5, seed);
  fmt::print(
      "| scenario | hosts | noise | rounds | pairs | time | found | launches with a false name | inconclusive |\n"
      "| --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  bool good = true;
  for (const Scenario& scenario : scenarios)
    for (const NoiseShape& noise : {noise_a(), noise_b(), noise_c()})
      good &= print_row(scenario, noise, scenario.look_at_links ? launches / 5 : launches, seed);
  return good ? 0 : 1;
}
