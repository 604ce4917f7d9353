#include "tools/replay/replayer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/core/communicator.hpp"
#include "src/core/error.hpp"

namespace ccl_tests::replay {
namespace {

std::size_t rounded_up(std::size_t bytes) {
  constexpr std::size_t alignment = 256;
  return (bytes + alignment - 1) / alignment * alignment;
}

// The slots of a call's patterns: both ends of a call know its number.
std::size_t slot_of(const PlannedCall& call) {
  constexpr std::size_t slots = 61;
  return call.number % slots;
}

// The slot of the part of alltoallv that goes to group rank `to`.
std::size_t part_slot(const PlannedKind& kind, const PlannedCall& call, std::size_t to) {
  return slot_of(call) * static_cast<std::size_t>(kind.self.ranks) + to;
}

// The slot of what a rank receives.
std::size_t result_slot(const PlannedKind& kind, const PlannedCall& call) {
  return kind.operation == OperationId::alltoallv
             ? part_slot(kind, call, static_cast<std::size_t>(kind.self.rank))
             : slot_of(call);
}

std::vector<ExpectedBlock> block_of_each(const PlannedKind& k) {
  std::vector<ExpectedBlock> blocks;
  const auto me = static_cast<std::size_t>(k.self.rank);
  const bool parts = k.operation == OperationId::alltoallv;
  for (std::size_t r = 0; r < static_cast<std::size_t>(k.self.ranks); ++r)
    blocks.push_back({.recv_offset = parts ? k.recv_offsets[r] : r * k.count,
                      .count = parts ? k.recv_counts[r] : k.count,
                      .source_rank = static_cast<int>(r),
                      .source_offset = k.operation == OperationId::alltoall ? me * k.count : 0});
  return blocks;
}

}  // namespace

std::vector<ExpectedBlock> expected_blocks(const PlannedKind& k) {
  using enum OperationId;
  const std::size_t own = static_cast<std::size_t>(k.self.rank) * k.count;
  const bool is_root = k.self.rank == k.root;
  switch (k.operation) {
    case all_reduce: return {{.recv_offset = 0, .count = k.count}};
    case reduce:
      if (!is_root) return {};
      return {{.recv_offset = 0, .count = k.count}};
    case reduce_scatter: return {{.recv_offset = 0, .count = k.count, .source_offset = own}};
    case broadcast: return {{.recv_offset = 0, .count = k.count, .source_rank = k.root}};
    case scatter:
      return {{.recv_offset = 0, .count = k.count, .source_rank = k.root, .source_offset = own}};
    case transfer:
      if (k.sends) return {};
      return {{.recv_offset = 0, .count = k.count, .source_rank = k.peer}};
    case gather: return is_root ? block_of_each(k) : std::vector<ExpectedBlock>();
    case all_gather:
    case alltoall:
    case alltoallv: return block_of_each(k);
    case barrier:
    case all_gatherv:
    case reduce_scatterv:
    case gatherv:
    case scatterv: break;  // traces do not have them
  }
  return {};
}

Replayer::Replayer(Rank& rank, const JobGroups& groups, const RankPlan& plan,
                   verify::PatternCache& patterns, Communicator& world, std::uint64_t seed)
    : rank_(rank),
      groups_(groups),
      plan_(plan),
      patterns_(patterns),
      world_(world),
      seed_(seed),
      loops_(rank.devices().loops(rank.device())) {}

void Replayer::connect(const std::vector<bool>& used) {
  communicators_.resize(groups_.groups.size(), nullptr);
  for (std::size_t g = 0; g < groups_.groups.size(); ++g) {
    const JobGroup& group = groups_.groups[g];
    if (!used[g] || !group.unusable.empty()) continue;
    const int mine = group.rank_of(rank_.rank());
    rank_.activity().phase("connecting " + group.text());
    channels_.push_back(rank_.world().split(mine < 0 ? -1 : 0, std::max(0, mine), rank_.limit_s()));
    if (channels_.back()) communicators_[g] = &rank_.connect(*channels_.back());
  }
}

Replayer::KindState Replayer::state_of(const PlannedKind& kind) {
  KindState state;
  if (!kind.lost.empty()) return state;
  const auto op = kind.reduces() ? std::optional(kind.op) : std::nullopt;
  // Data of groups differ, so that what leaks from one into another is wrong there.
  const auto pattern =
      patterns_.find(kind.type, op, kind.self.ranks, seed_ + 0x9e3779b9 * kind.group,
                     communicators_[kind.group]->capabilities().integers_wrap);
  std::unique_ptr<verify::Verifier>& verifier = verifiers_[{kind.group, pattern.get()}];
  if (!verifier) verifier = std::make_unique<verify::Verifier>(pattern, kind.self.rank, *loops_);
  state.verifier = verifier.get();
  state.says = pattern->inputs().verifiable();
  state.blocks = expected_blocks(kind);
  state.elements = extent(kind.operation, kind.call());
  if (kind.is_message()) (kind.sends ? state.elements.recv : state.elements.send) = 0;
  state.send = state.elements.send * size_of(kind.type);
  state.recv = state.elements.recv * size_of(kind.type);
  state.text = text_of(kind, groups_.groups[kind.group]);
  return state;
}

std::size_t Replayer::room(const PlannedCall& call) const {
  const KindState& state = state_of(call);
  return rounded_up(std::max(state.send, state.recv)) + verify::guard_bytes;
}

std::size_t Replayer::room(const Step& step) const {
  std::size_t bytes = verify::guard_bytes;
  for (std::size_t k = step.begin; k < step.end; ++k) bytes += room(plan_.calls[k]);
  return bytes;
}

void Replayer::reserve() {
  for (const PlannedKind& kind : plan_.kinds) kinds_.push_back(state_of(kind));
  std::size_t begin = 0;
  for (const std::size_t end : ends_of_steps(plan_))
    steps_.push_back({std::exchange(begin, end), end});
  std::size_t largest = 2 * verify::guard_bytes;
  for (const Step& step : steps_) largest = std::max(largest, room(step));
  const std::vector<std::string> places = rank_.table().places();
  const auto here = static_cast<std::size_t>(
      std::count(places.begin(), places.end(), places[static_cast<std::size_t>(rank_.rank())]));
  const std::size_t available = rank_.device().available() / (rank_.gpu() != nullptr ? 1 : here);
  if (2 * largest > available)
    throw Unsupported(fmt::format(
        "rank {}: its largest calls need two buffers of {} B, and {} B are free for a rank",
        rank_.rank(), largest, available));
  arena_.emplace(world_, rank_.device(), largest);
  arena_bytes_ = largest;
  rank_.meet();  // taking a GPU's memory waits for peers
}

void Replayer::fill(const PlannedCall& call, std::byte* send, std::byte* recv) const {
  const PlannedKind& kind = kind_of(call);
  const KindState& state = state_of(call);
  const verify::Verifier& verifier = *state.verifier;
  verifier.mark_guards(send, state.send);
  verifier.mark_guards(recv, state.recv);
  verifier.poison(recv, state.elements.recv, state.blocks, result_slot(kind, call));
  if (kind.operation != OperationId::alltoallv)
    return verifier.fill_input(send, state.elements.send, slot_of(call));
  for (std::size_t r = 0; r < kind.send_counts.size(); ++r)
    verifier.fill_input(send + kind.send_offsets[r] * size_of(kind.type), kind.send_counts[r],
                        part_slot(kind, call, r));
}

void Replayer::check(const PlannedCall& call, std::byte* send, std::byte* recv,
                     Outcome& outcome) const {
  const PlannedKind& kind = kind_of(call);
  const KindState& state = state_of(call);
  if (!state.says) {
    ++outcome.unverified;
    return;
  }
  const verify::Verifier& verifier = *state.verifier;
  verify::Mismatch found = verifier.compare(recv, state.blocks, result_slot(kind, call));
  if (kind.operation != OperationId::alltoallv)
    found.add(verifier.compare_input(send, state.elements.send, slot_of(call)));
  found.add(verifier.check_guards(send, state.send));
  found.add(verifier.check_guards(recv, state.recv));
  ++outcome.verified;
  if (found.wrong == 0) return;
  ++outcome.wrong;
  if (outcome.first_wrong.empty())
    outcome.first_wrong = fmt::format("rank {}: {}, call {} of it: {} wrong, elements {} to {}: {}",
                                      rank_.rank(), state.text, call.number + 1, found.wrong,
                                      found.first, found.last, found.explanation);
}

void Replayer::verify_all(Outcome& outcome) {
  using Bytes = std::byte*;
  if (Injector* const injector = rank_.injector()) injector->begin_phase(CallPhase::untimed);
  for (const Step& step : steps_) {
    each(step, [&](const PlannedCall& call, Bytes send, Bytes recv) { fill(call, send, recv); });
    issue(step);
    each(step, [&](const PlannedCall& call, Bytes send, Bytes recv) {
      check(call, send, recv, outcome);
    });
  }
}

double Replayer::timed_pass(bool gaps, std::vector<double>& seconds) {
  if (Injector* const injector = rank_.injector()) injector->begin_phase(CallPhase::timed);
  loops_->set(arena_->send(), std::byte{0}, arena_bytes_);  // sums of zeros overflow nothing
  Clock& clock = world_.clock();
  const double first_s = plan_.calls.empty() ? 0 : plan_.calls.front().start_s;
  rank_.meet();
  const double begin = clock.now();
  for (const Step& step : steps_) {
    if (gaps) {
      const double due_s = begin + plan_.calls[step.begin].start_s - first_s;
      if (due_s > clock.now()) rank_.activity().phase("waiting for the time of its next call");
      clock.sleep_for(std::max(0.0, due_s - clock.now()));
    }
    const double start = clock.now();
    issue(step);
    const double each_s = (clock.now() - start) / static_cast<double>(step.end - step.begin);
    for (std::size_t k = step.begin; k < step.end; ++k) seconds[k] += each_s;
  }
  return clock.now() - begin;
}

// Makes the calls of a step, and waits for them.
void Replayer::issue(const Step& step) {
  const PlannedKind& first = kind_of(plan_.calls[step.begin]);
  const KindState& state = state_of(plan_.calls[step.begin]);
  Communicator& library = *communicators_[first.group];
  rank_.activity().row(state.text);
  if (Injector* const injector = rank_.injector())
    injector->begin_row(row_key(first).bytes, false);  // the same on all ranks
  const Expected expected(rank_.activity(), limit_s(step));
  inside_library(rank_.activity(), [&] {
    if (first.is_message()) library.begin_group();
    each(step, [&](const PlannedCall& call, std::byte* send, std::byte* recv) {
      const PlannedKind& kind = kind_of(call);
      Call made = kind.call();
      made.send = send;
      made.recv = recv;
      if (!kind.is_message()) return (library.*member(kind.operation))(made);
      if (kind.sends) return library.send(made);
      library.recv(made);
    });
    if (first.is_message()) library.end_group();
    library.wait();
  });
}

// Returns when the watchdog ends a step: later than the library's own limit.
double Replayer::limit_s(const Step& step) const {
  constexpr double later_s = 5;
  const double limit = Deadline(rank_.process().options.timeout_s, room(step)).limit_s();
  return limit > 0 ? limit + later_s : 0;
}

void Replayer::close() {
  rank_.meet();
  arena_.reset();
  for (Communicator* const one : communicators_)
    if (one != nullptr) rank_.close(*one);
  rank_.close(world_);
}

}  // namespace ccl_tests::replay
