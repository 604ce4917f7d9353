#include "tools/replay/exchange.hpp"

#include <fmt/format.h>

#include <set>

#include "src/core/error.hpp"
#include "src/core/serialize.hpp"
#include "verify/order_sensitive.hpp"

namespace ccl_tests {
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(GroupRank, rank, ranks, group)
}  // namespace ccl_tests

namespace ccl_tests::replay {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TracePlace, file, member, process)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TracedGroup, name, about, members, size, rank)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StreamKey, group, what, from, to)
// Of a call its kind: many are sent.
void to_json(nlohmann::json& json, const PlannedCall& call) { json = call.kind; }
void from_json(const nlohmann::json& json, PlannedCall& call) { json.get_to(call.kind); }
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(PlannedKind, operation, sends, group, self, type, count, root,
                                   peer, send_counts, recv_counts)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankPlan, kinds, calls)

namespace {

constexpr double no_limit = 0;

// A stream as ranks compare it first.
struct StreamDigest {
  StreamKey key;
  std::uint64_t digest = 0;
  bool has_lost = false;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StreamDigest, key, digest, has_lost)

struct WholeStream {
  StreamKey key;
  std::string calls;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(WholeStream, key, calls)

// What a rank tells of a trace first.
struct TraceWords {
  std::vector<TracedGroup> groups;
};
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(TraceWords, groups)

StreamDigest digest_of(const StreamKey& key, const std::vector<StreamCall>& calls) {
  StreamDigest result{key};
  const std::string bytes = span_to_bytes<StreamCall>(calls);
  result.digest = verify::digest(std::as_bytes(std::span(bytes)));
  for (const StreamCall& call : calls) result.has_lost = result.has_lost || call.signature == 0;
  return result;
}

// The two ends of messages are compared as one.
StreamKey shared_key(StreamKey key) {
  if (key.what == StreamKey::What::received) key.what = StreamKey::What::sent;
  if (key.what == StreamKey::What::part_received) key.what = StreamKey::What::part_sent;
  return key;
}

// Returns the streams that some rank has otherwise than another, or cannot replay.
std::set<StreamKey> unequal_streams(const std::vector<std::vector<StreamDigest>>& ranks,
                                    const std::vector<JobGroup>& groups) {
  struct Seen {
    std::set<std::uint64_t> digests;
    std::size_t parties = 0;
    bool has_lost = false;
  };
  std::map<StreamKey, Seen> all;
  for (const auto& digests : ranks)
    for (const StreamDigest& one : digests) {
      Seen& seen = all[shared_key(one.key)];
      seen.digests.insert(one.digest);
      ++seen.parties;
      seen.has_lost = seen.has_lost || one.has_lost;
    }
  std::set<StreamKey> unequal;
  for (const auto& [key, seen] : all) {
    const std::size_t parties =
        key.what == StreamKey::What::collectives ? groups[key.group].members.size() : 2;
    if (seen.has_lost || seen.digests.size() > 1 || seen.parties != parties) unequal.insert(key);
  }
  return unequal;
}

}  // namespace

std::vector<TracePlace> exchange_places(ControlChannel& world,
                                        const std::vector<TracePlace>& places) {
  return from_bytes<std::vector<TracePlace>>(world.broadcast(to_bytes(places), no_limit));
}

JobGroups exchange_groups(ControlChannel& world, const RankTrace& trace) {
  std::vector<std::vector<TracedGroup>> all;
  for (const std::string& bytes : world.all_gather(to_bytes(TraceWords{trace.groups}), no_limit))
    all.push_back(from_bytes<TraceWords>(bytes).groups);
  return job_groups(all);
}

void adapt(RankPlan& plan, const Capabilities& library, Outcome& outcome) {
  for (PlannedKind& kind : plan.kinds) {
    if (!kind.lost.empty() || kind.operation == OperationId::barrier) continue;
    const auto op = kind.reduces() ? std::optional(kind.op) : std::nullopt;
    const auto why = library.why_not(kind.type, op);
    if (why && kind.reduces()) {
      kind.lost = fmt::format("{} of {}: {}", name(kind.op), name(kind.type), *why);
    } else if (why) {
      outcome.moved_as_bytes.emplace(name(kind.type));
      kind.as_bytes();
    }
    if (const auto missing = library.why_not(OperationSet{kind.operation});
        missing && kind.lost.empty())
      kind.lost = fmt::format("{}: {}", name(kind.operation), *missing);
  }
}

std::vector<bool> exchange_calls(ControlChannel& world, const JobGroups& groups, RankPlan& plan,
                                 double limit_s) {
  const Streams mine = streams(plan);
  std::vector<StreamDigest> digests;
  for (const auto& [key, calls] : mine) digests.push_back(digest_of(key, calls));
  std::vector<std::vector<StreamDigest>> all;
  std::vector<bool> used(groups.groups.size());
  for (const std::string& bytes : world.all_gather(to_bytes(digests), limit_s)) {
    all.push_back(from_bytes<std::vector<StreamDigest>>(bytes));
    for (const StreamDigest& one : all.back()) used[one.key.group] = true;
  }
  const std::set<StreamKey> unequal = unequal_streams(all, groups.groups);
  Agreement agreement;
  if (!unequal.empty()) {
    std::vector<WholeStream> whole;
    for (const auto& [key, calls] : mine)
      if (unequal.contains(shared_key(key)))
        whole.push_back({key, span_to_bytes<StreamCall>(calls)});
    std::vector<Streams> ranks;
    for (const std::string& bytes : world.all_gather(to_bytes(whole), limit_s)) {
      Streams& streams = ranks.emplace_back();
      for (const WholeStream& one : from_bytes<std::vector<WholeStream>>(bytes))
        streams[one.key] = span_from_bytes<StreamCall>(one.calls);
    }
    agreement = agree(ranks, groups.groups, plan.sampled);
  }
  require_agreement(agreement);
  apply(plan, agreement);
  return used;
}

std::string exchange_order(ControlChannel& world, const JobGroups& groups, const RankPlan& plan,
                           double limit_s) {
  std::vector<RankPlan> ranks;  // on rank 0
  for (const std::string& bytes : world.gather(to_bytes(plan), limit_s))
    ranks.push_back(from_bytes<RankPlan>(bytes));
  require_order(world.broadcast(cycle(ranks, groups.groups, true), limit_s));
  return cycle(ranks, groups.groups, false);
}

void require_order(const std::string& cycle) {
  if (cycle.empty()) return;
  throw Error(
      fmt::format(
          "the traces agree, but their calls made one after the other wait for each other for "
          "ever, nothing was replayed: {}. The job made them at the same time (irecv, streams). "
          "mesh_perf makes calls of several groups at the same time",
          cycle),
      Exit::inconclusive);
}

void require_agreement(const Agreement& agreement) {
  if (!agreement.disagreement.empty()) throw Error(agreement.disagreement, Exit::inconclusive);
}

}  // namespace ccl_tests::replay
