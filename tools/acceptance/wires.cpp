#include "tools/acceptance/wires.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "tools/acceptance/facts.hpp"
#include "tools/acceptance/report/words.hpp"

namespace ccl_tests::acceptance {
namespace {

constexpr double counted_at_least = 0.5;  // of the bytes, or the data took a way that nobody counts
constexpr std::string_view sent_by = "sent ";

std::string gigabytes(double bytes) { return fmt::format("{:.3g} GB", bytes / 1e9); }

// Bytes by wire, of all hosts; not those that stay on the host.
std::map<std::string, double> bytes_by_wire(const std::vector<Counters>& counted) {
  std::map<std::string, double> bytes;
  for (const Counters& host : counted)
    for (const auto& [name, value] : host)
      if (name.starts_with(sent_by) && name != "sent lo")
        bytes[name.substr(sent_by.size())] += static_cast<double>(value);
  return bytes;
}

bool is_of(const std::string& wire, const std::string& interface) {
  return wire == interface || wire.starts_with(interface + '/');
}

Check which_wire(const std::vector<Counters>& counted, const std::string& interface,
                 std::uint64_t sent) {
  const std::map<std::string, double> bytes = bytes_by_wire(counted);
  double all = 0, on_it = 0, most = 0;
  std::string busiest;
  for (const auto& [wire, value] : bytes) {
    all += value;
    if (is_of(wire, interface)) on_it += value;
    if (value > most) most = value, busiest = wire;
  }
  Check check{.id = "pairs/wire",
              .subject = "run",
              .verdict = Verdict::pass,
              .reason = "OK",
              .numbers = {{"sent", static_cast<double>(sent), "B"}, {"counted", all, "B"}}};
  const double expected = counted_at_least * static_cast<double>(sent);
  if (all <= 0 || all < expected) {
    check.verdict = interface.empty() ? Verdict::skipped : Verdict::inconclusive;
    check.reason = "WIRE_NOT_KNOWN";
    check.text = fmt::format("{} were sent, but only {} went over wires that count",
                             gigabytes(static_cast<double>(sent)), gigabytes(all));
  } else if (interface.empty()) {
    check.text = fmt::format("{:.0f} % of {} over {}", 100 * most / all, gigabytes(all), busiest);
  } else if (on_it < expected) {
    check.verdict = Verdict::fail;
    check.reason = "WRONG_WIRE";
    check.text = fmt::format("{:.0f} % of {} over {}, not {}", 100 * most / all, gigabytes(all),
                             busiest, interface);
  } else {
    check.text = fmt::format("{} over {}", gigabytes(on_it), interface);
  }
  return check;
}

}  // namespace

std::vector<Check> wire_checks(const std::vector<std::string>& hosts,
                               const std::vector<Counters>& counted, const std::string& interface,
                               std::uint64_t sent) {
  std::vector<Check> checks = {which_wire(counted, interface, sent)};
  for (std::size_t h = 0; h < hosts.size(); ++h) {
    std::string troubles;
    for (const auto& [name, value] : counted[h]) {
      const bool is_trouble = !name.starts_with("sent ") && !name.starts_with("received ") &&
                              name != "retransmits" && value > 0;
      if (is_trouble) troubles += fmt::format("{}{} {}", troubles.empty() ? "" : ", ", value, name);
    }
    if (troubles.empty()) continue;
    checks.push_back({.id = "pairs/errors/" + hosts[h],
                      .subject = "host " + hosts[h],
                      .verdict = Verdict::warn,
                      .reason = "LINK_ERRORS",
                      .text = "counted during this stage: " + troubles});
  }
  return checks;
}

double slowest_wire(Team& team, const Hosts& hosts, const std::string& interface) {
  double slowest = 0;
  const std::vector<std::string> rates = team.ask("wire " + interface);
  for (int h = 0; h < hosts.number(); ++h) {
    const double rate = std::stod(rates.at(static_cast<std::size_t>(hosts.leader(h))));
    if (rate <= 0) return 0;
    slowest = h == 0 ? rate : std::min(slowest, rate);
  }
  return slowest;
}

std::vector<Counters> WireCount::read() {
  const std::vector<std::string> answers = team_.ask("counters");
  std::vector<Counters> counters;
  for (int h = 0; h < hosts_.number(); ++h)
    counters.push_back(counters_of(answers.at(static_cast<std::size_t>(hosts_.leader(h)))));
  return counters;
}

void WireCount::go_on() { begin_ = read(); }

void WireCount::pause() {
  const std::vector<Counters> now = read();
  passed_.resize(now.size());
  for (std::size_t h = 0; h < now.size(); ++h)
    for (const auto& [name, value] : now[h])
      passed_[h][name] += value - std::min(value, begin_[h][name]);
}

std::vector<Check> WireCount::checks(const std::string& interface, std::uint64_t sent) const {
  std::vector<std::string> names;
  for (const HostRanks& host : hosts_.all()) names.push_back(host.name);
  return wire_checks(names, passed_, interface, sent);
}

}  // namespace ccl_tests::acceptance
