#include "src/run/host_clocks.hpp"

#include <map>
#include <span>
#include <string>

#include "src/core/communicator.hpp"
#include "src/core/serialize.hpp"

namespace ccl_tests {
namespace {

constexpr std::size_t round_trips = 16;  // the fastest counts: more than the first, slow ones

void exchange(Communicator& world, Message message) {
  Deadline deadline = world.deadline(sizeof(double));
  world.transfer({&message, 1}, deadline);
  world.wait();
}

void send(Communicator& world, int peer, double value) {
  exchange(world, Message::to(peer, std::as_bytes(std::span(&value, 1))));
}

double receive(Communicator& world, int peer) {
  double value = 0;
  exchange(world, Message::from(peer, std::as_writable_bytes(std::span(&value, 1))));
  return value;
}

ClockOffset ask(Communicator& world, int whom) {
  std::vector<RoundTrip> trips(round_trips);
  for (RoundTrip& trip : trips) {
    trip.sent = world.clock().now();
    send(world, whom, 0);
    trip.there = receive(world, whom);
    trip.received = world.clock().now();
  }
  return clock_offset(trips);
}

void answer(Communicator& world, int whom) {
  for (std::size_t k = 0; k < round_trips; ++k) {
    receive(world, whom);
    send(world, whom, world.clock().now());
  }
}

}  // namespace

HostClocks::HostClocks(Rank& rank, Communicator& world, bool wanted, double limit_s)
    : rank_(rank),
      world_(world),
      limit_s_(limit_s),
      compares_(wanted && !rank.table().on_one_machine() &&
                rank.device().memory() == Memory::host) {
  if (compares_) before_ = compare();
}

// On rank 0: how far its clock is ahead of each rank's.
std::vector<ClockOffset> HostClocks::compare() {
  const std::vector<std::string> places = rank_.table().places();
  std::map<std::string, int> speakers;  // the first rank of each machine
  for (int r = 0; r < rank_.ranks(); ++r) speakers.emplace(places[static_cast<std::size_t>(r)], r);
  const Expected expected(rank_.activity(), limit_s_);
  rank_.activity().row("comparing the clocks of the hosts");
  ClockOffset mine;
  for (int r = 1; r < rank_.ranks(); ++r) {
    if (speakers.at(places[static_cast<std::size_t>(r)]) != r) continue;
    inside_library(rank_.activity(), [&] {
      if (rank_.is_first()) answer(world_, r);
      if (rank_.rank() == r) mine = ask(world_, 0);
    });
  }
  std::vector<ClockOffset> offsets;
  for (const std::string& bytes :
       rank_.world().gather(span_to_bytes<ClockOffset>({&mine, 1}), limit_s_))
    offsets.push_back(span_from_bytes<ClockOffset>(bytes).at(0));
  for (std::size_t r = 0; r < offsets.size(); ++r)
    offsets[r] = offsets[static_cast<std::size_t>(speakers.at(places[r]))];
  return offsets;
}

std::optional<double> HostClocks::unify(std::vector<Samples>& samples) {
  if (!compares_) return rank_.table().on_one_machine() ? std::optional(0.0) : std::nullopt;
  const std::vector<ClockOffset> after = compare();
  if (!rank_.is_first()) return std::nullopt;
  std::vector<ComparedClock> clocks;
  for (std::size_t r = 0; r < after.size(); ++r) clocks.push_back({before_[r], after[r]});
  return onto_one_clock(samples, clocks);
}

}  // namespace ccl_tests
