#include "tools/acceptance/stages/wires.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

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

// Whether every host counts what the interface sends. Some drivers leave its counter empty.
bool is_counted(const std::vector<Counters>& counted, const std::string& interface) {
  return std::all_of(counted.begin(), counted.end(), [&](const Counters& host) {
    return std::any_of(host.begin(), host.end(), [&](const auto& counter) {
      const std::string& name = counter.first;
      return name.starts_with(sent_by) && is_of(name.substr(sent_by.size()), interface);
    });
  });
}

struct Split {
  double all = 0, on_it = 0, most = 0;  // bytes
  std::string busiest = {};
};

Split split(const std::vector<Counters>& counted, const std::string& interface) {
  Split found;
  for (const auto& [wire, value] : bytes_by_wire(counted)) {
    found.all += value;
    if (is_of(wire, interface)) found.on_it += value;
    if (value > found.most) found.most = value, found.busiest = wire;
  }
  return found;
}

std::string busiest_text(const Split& found) {
  return fmt::format("{:.0f} % of {} over {}", 100 * found.most / found.all, gigabytes(found.all),
                     found.busiest);
}

// "mlx" of "mlx5_0/1": the ranks of a host may have a wire of this kind each.
std::string kind_of(const std::string& wire) {
  return wire.substr(0, wire.find_first_not_of("abcdefghijklmnopqrstuvwxyz"));
}

void judge(Check& check, const Split& found, const std::string& interface, bool right) {
  if (right) {
    check.text = fmt::format("{} over {}", gigabytes(found.on_it), interface);
    return;
  }
  check.verdict = Verdict::fail;
  check.reason = "WRONG_WIRE";
  check.text = fmt::format("{}, not {}", busiest_text(found), interface);
}

}  // namespace

Check wire_check(const std::vector<Counters>& counted, const std::string& interface,
                 std::uint64_t sent) {
  const Split found = split(counted, interface);
  Check check{.id = "pairs/wire",
              .subject = "run",
              .verdict = Verdict::pass,
              .reason = "OK",
              .numbers = {{"sent", static_cast<double>(sent), "B"}, {"counted", found.all, "B"}}};
  const double expected = counted_at_least * static_cast<double>(sent);
  if (found.all <= 0 || found.all < expected) {
    check.verdict = interface.empty() ? Verdict::skipped : Verdict::inconclusive;
    check.reason = "WIRE_NOT_KNOWN";
    check.text = fmt::format("{} were sent, but only {} went over wires that count",
                             gigabytes(static_cast<double>(sent)), gigabytes(found.all));
  } else if (interface.empty()) {
    check.text = busiest_text(found);
  } else {
    judge(check, found, interface, found.on_it >= expected);
  }
  return check;
}

Check share_check(std::string_view stage, const std::vector<Counters>& counted,
                  const std::string& interface) {
  constexpr double least_bytes = 1e7, least_share = 0.5;
  const Split found = split(counted, interface);
  Check check{.id = fmt::format("{}/wire", stage),
              .subject = "run",
              .verdict = Verdict::pass,
              .reason = "OK",
              .numbers = {{"counted", found.all, "B"}, {"on_it", found.on_it, "B"}}};
  if (interface.empty() || found.all < least_bytes) {
    check.verdict = Verdict::skipped;
    check.reason = "WIRE_NOT_KNOWN";
    check.text = fmt::format("{} went over wires that count", gigabytes(found.all));
  } else if (!is_counted(counted, interface)) {
    check.verdict = Verdict::skipped;
    check.reason = "WIRE_NOT_KNOWN";
    check.text = fmt::format("{} does not count what it sends", interface);
  } else {
    const bool alike = kind_of(found.busiest) == kind_of(interface);
    judge(check, found, interface, alike || found.on_it >= least_share * found.all);
  }
  return check;
}

double slowest_wire(Team& team, const Hosts& hosts, const std::string& interface) {
  std::vector<double> rates;
  for (const HostDescription& host : hosts.of_leaders(team.descriptions(interface)))
    rates.push_back(std::max(0.0, host.wire_rate));
  return *std::min_element(rates.begin(), rates.end());
}

}  // namespace ccl_tests::acceptance
