// How often the search for bad hosts names the right ones, and others, in simulated launches.
//
//   acceptance_truth [--hosts 6,16,64] [--noise a,b,c,d] [--launches 1000] [--recall 100]
//                    [--seed 1] [--apart ROUNDS] [--later ROUNDS] [--residuals FILE]
//
// --launches: healthy launches a line; --recall: launches a cell with bad hosts; --apart: how many
// rounds of time pass from one round to the next (drift, noise d); --later: and between the two
// confirmations. --residuals takes the noise from rounds that healthy hosts measured, rows
// `round,from,to,seconds` after a line of header, instead of --noise. A line of 1000 launches takes
// seconds for 6 hosts and minutes for 232. Lines of other seeds are other launches: limits chosen
// by one seed are to be shown by another.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "tests/bench/recorded_noise.hpp"

namespace {

using namespace ccl_tests;
using namespace ccl_tests::acceptance;
using namespace ccl_tests::acceptance::test;

struct Arguments {
  std::vector<int> hosts = {6, 16, 64};
  std::vector<std::string> noise = {"a", "b", "c", "d"};
  int launches = 1000, recall = 100;
  std::uint64_t seed = 1;
  double apart = 1, later = 0;
  std::string residuals;
};

std::vector<std::string> words(const std::string& list) {
  std::vector<std::string> found;
  std::istringstream in(list);
  for (std::string word; std::getline(in, word, ',');) found.push_back(word);
  return found;
}

Arguments parse(int argc, char** argv) {
  Arguments arguments;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string name = argv[i], value = argv[i + 1];
    if (name == "--hosts") {
      arguments.hosts.clear();
      for (const std::string& word : words(value)) arguments.hosts.push_back(std::stoi(word));
    } else if (name == "--noise") {
      arguments.noise = words(value);
    } else if (name == "--launches") {
      arguments.launches = std::stoi(value);
    } else if (name == "--recall") {
      arguments.recall = std::stoi(value);
    } else if (name == "--seed") {
      arguments.seed = std::stoull(value);
    } else if (name == "--apart") {
      arguments.apart = std::stod(value);
    } else if (name == "--later") {
      arguments.later = std::stod(value);
    } else if (name == "--residuals") {
      arguments.residuals = value;
    } else {
      throw UsageError("unknown option " + name + "; see the head of acceptance_truth.cpp");
    }
  }
  if (argc % 2 == 0) throw UsageError(std::string(argv[argc - 1]) + " needs a value");
  return arguments;
}

NoiseShape shape_of(const std::string& name) {
  if (name == "a") return noise_a();
  if (name == "b") return noise_b();
  if (name == "c") return noise_c();
  if (name == "d") return noise_d();
  throw UsageError("--noise " + name + ": is none of a, b, c, d");
}

// One cell: launches of one kind.
struct Cell {
  int hosts = 0;
  std::optional<NoiseShape> shape;  // nullopt: `recording`
  const Recording* recording = nullptr;
  double apart = 1, later = 0;  // rounds of time
  std::vector<BadHost> bad;
  int launches = 0;
};

struct Outcome {
  int false_names = 0, false_launches = 0;
  double found = 0, inconclusive = 0, suspects = 0, rounds = 0, screened = 0;  // means
  double role_right = 0, covered = 0;  // shares of the found hosts
};

Outcome run(const Cell& cell, std::uint64_t seed) {
  Outcome outcome;
  double named_bad = 0;
  for (int launch = 0; launch < cell.launches; ++launch) {
    Random random(seed * 1000003 + static_cast<std::uint64_t>(launch));
    std::unique_ptr<NoiseSource> noise;
    if (cell.shape)
      noise =
          std::make_unique<ShapedNoise>(*cell.shape, static_cast<std::size_t>(cell.hosts), random);
    else
      noise = std::make_unique<RecordedNoise>(*cell.recording, static_cast<std::size_t>(cell.hosts),
                                              random);
    Fabric fabric(*noise, random);
    fabric.apart = cell.apart;
    fabric.bad_hosts = cell.bad;
    SearchPlan plan;
    plan.seed = random();
    plan.later = [&] { fabric.pass_time(cell.later); };
    const Findings found = find_bad_hosts(fabric, cell.hosts, plan);
    const double share = 1.0 / cell.launches;
    outcome.inconclusive += found.reasons.empty() ? 0 : share;
    outcome.suspects += static_cast<double>(found.suspects.size()) * share;
    outcome.rounds += static_cast<double>(found.rounds) * share;
    outcome.screened += static_cast<double>(found.screened) * share;
    bool wrong = false;
    for (const HostFinding& host : found.hosts) {
      if (host.verdict != HostVerdict::blamed) continue;
      const auto bad = std::find_if(cell.bad.begin(), cell.bad.end(),
                                    [&](const BadHost& one) { return one.host == host.host; });
      if (bad == cell.bad.end()) {
        ++outcome.false_names;
        wrong = true;
        continue;
      }
      ++named_bad;
      const Way way = bad->receiving <= 0 ? Way::sending
                      : bad->sending <= 0 ? Way::receiving
                                          : Way::both;
      outcome.role_right += way == host.slow_at ? 1 : 0;
      const double truth = -std::expm1(-std::max(bad->sending, bad->receiving));
      outcome.covered += host.size.low <= truth && truth <= host.size.high ? 1 : 0;
    }
    outcome.false_launches += wrong ? 1 : 0;
  }
  if (!cell.bad.empty())
    outcome.found = named_bad / static_cast<double>(cell.bad.size()) / cell.launches;
  outcome.role_right /= std::max(1.0, named_bad);
  outcome.covered /= std::max(1.0, named_bad);
  return outcome;
}

std::vector<BadHost> several(int hosts) {
  std::vector<BadHost> bad;
  for (int i = 0; i < (hosts < 16 ? 2 : 3); ++i) bad.push_back({2 * i + 1, slow(0.1), slow(0.1)});
  return bad;
}

void print_line(Cell cell, const std::string& noise, const Arguments& arguments) {
  std::uint64_t seed = arguments.seed * 100;
  cell.launches = arguments.launches;
  const Outcome healthy = run(cell, ++seed);
  cell.launches = arguments.recall;
  int false_names = 0;
  const auto recall = [&](std::vector<BadHost> bad) {
    cell.bad = std::move(bad);
    const Outcome outcome = run(cell, ++seed);
    false_names += outcome.false_launches;
    return outcome;
  };
  const double ten = slow(0.1);
  const Outcome both = recall({{1, ten, ten}}), send = recall({{1, ten, 0}});
  const Outcome receive = recall({{1, 0, ten}}), twenty = recall({{1, slow(0.2), slow(0.2)}});
  const Outcome many = recall(several(cell.hosts));
  fmt::print(
      "| {} {} | {:.0f} | {} / {} | {:.3f} | {:.2f} | {:.1f} | {:.2f} | {:.2f} / {:.2f} | {:.2f} | {:.2f} | {} / {} | {:.2f} | {:.2f} |\n",
      cell.hosts, noise, healthy.screened, healthy.false_launches, arguments.launches,
      healthy.inconclusive, healthy.suspects, healthy.rounds, both.found, send.found, receive.found,
      twenty.found, many.found, false_names, 5 * arguments.recall,
      (both.role_right + send.role_right + receive.role_right) / 3,
      (both.covered + send.covered + receive.covered) / 3);
  std::fflush(stdout);
}

int print_table(const Arguments& arguments) {
  fmt::print("seed {}, rounds apart {}, later {}\n\n", arguments.seed, arguments.apart,
             arguments.later);
  fmt::print(
      "| hosts, noise | R | healthy: false names / launches | inconclusive | suspects | rounds | 10 % both | send / receive only | 20 % both | several of 10 % | their false names / launches | role right | interval covers |\n");
  fmt::print("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |\n");
  std::optional<Recording> recording;
  if (!arguments.residuals.empty()) recording = read_recording(arguments.residuals);
  for (const int hosts : arguments.hosts) {
    Cell cell;
    cell.hosts = hosts;
    cell.apart = arguments.apart;
    cell.later = arguments.later;
    if (recording) {
      cell.recording = &*recording;
      print_line(cell, "recorded", arguments);
      continue;
    }
    for (const std::string& noise : arguments.noise) {
      cell.shape = shape_of(noise);
      print_line(cell, noise, arguments);
    }
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return print_table(parse(argc, argv));
  } catch (const std::exception& error) {
    fmt::print(stderr, "acceptance_truth: {}\n", error.what());
    return 2;
  }
}
