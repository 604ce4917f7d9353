#include "src/run/wire_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "src/core/interfaces.hpp"

namespace ccl_tests {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankWire, host, place, pid, interface, by, sent, counted)

namespace {

using Bytes = std::map<std::string, std::uint64_t>;

std::string megabytes(std::uint64_t bytes) {
  return bytes < 10'000 ? fmt::format("{} B", bytes)
                        : fmt::format("{:.4g} MB", static_cast<double>(bytes) / 1e6);
}

}  // namespace

void judge_wires(const std::vector<RankWire>& ranks, AfterRows& found) {
  constexpr std::uint64_t least = 4096;  // an interface that nobody uses sends some bytes, too
  std::map<std::string, std::vector<const RankWire*>> places;
  for (const RankWire& rank : ranks)
    if (!rank.interface.empty()) places[rank.place].push_back(&rank);
  std::uint64_t right = 0;
  std::string unknown;
  for (const auto& [place, here] : places) {
    const RankWire& one = *here.front();
    std::map<long, std::uint64_t> sent;  // by process
    std::set<std::string> chosen;
    for (const RankWire* const rank : here) {
      sent[rank->pid] = std::max(sent[rank->pid], rank->sent);
      chosen.insert(rank->interface);
    }
    std::uint64_t all = 0, on_it = 0, most = 0;
    for (const auto& [pid, bytes] : sent) all += bytes;
    if (all < least) continue;
    if (one.counted.empty()) unknown = one.host;
    std::string other;
    for (const auto& [interface, bytes] : one.counted)
      if (chosen.contains(interface))
        on_it += bytes;
      else if (interface != "lo" && bytes > most)
        most = bytes, other = interface;
    right += on_it;
    if (one.counted.empty() || on_it >= all / 2 || found.wrong_wire) continue;
    found.wrong_wire = true;
    found.wire = fmt::format(
        "interface: on {} {} of the library left by {}, {} by {} ({}): the host's routes choose "
        "another way (ip route get ADDRESS)",
        one.host, megabytes(all), other.empty() ? "none that counts" : other, megabytes(on_it),
        one.interface, one.by);
  }
  if (found.wrong_wire || places.empty()) return;
  const RankWire& one = *places.begin()->second.front();
  if (!unknown.empty())
    found.wire = fmt::format(
        "interface: not verified that bytes leave by {} ({}): /proc/net/dev of {} cannot be read",
        one.interface, one.by, unknown);
  else if (right > 0)
    found.wire =
        fmt::format("interface: {} left by {} ({})", megabytes(right), one.interface, one.by);
}

WireCheck::WireCheck() : before_(sent_bytes()) {}

void WireCheck::judge(Rank& rank, const Communicator& communicator, AfterRows& found) const {
  const RankIdentity& me = rank.table()[rank.rank()];
  RankWire mine{.host = me.host, .place = me.place(), .pid = me.pid};
  if (const auto& chosen = communicator.capabilities().chosen_interface) {
    mine.interface = chosen->name;
    mine.by = chosen->by;
    mine.sent = chosen->sent();
    mine.counted = sent_bytes();
    for (auto& [interface, bytes] : mine.counted)
      if (const auto was = before_.find(interface); was != before_.end()) bytes -= was->second;
  }
  std::vector<RankWire> all;
  for (const std::string& text : rank.world().gather(nlohmann::json(mine).dump(), rank.limit_s()))
    all.push_back(nlohmann::json::parse(text).get<RankWire>());
  judge_wires(all, found);
}

}  // namespace ccl_tests
