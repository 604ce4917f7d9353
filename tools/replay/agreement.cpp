// Do the traces of all ranks fit together?
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "tools/replay/plan.hpp"

namespace ccl_tests::replay {
namespace {

using What = StreamKey::What;

// Places among calls of one number: libraries count a group of calls once.
constexpr unsigned place_bits = 20;

// Fields of a signature from its lowest bit on. Never 0: `set` is 1.
constexpr unsigned count_bits = 40, root_bits = 11, op_bits = 4, type_bits = 4, operation_bits = 4;
static_assert(most_bytes < std::uint64_t{1} << count_bits);
static_assert(most_numbers <= std::uint64_t{1} << (64 - place_bits));

std::uint64_t signature_of(const PlannedKind& kind) {
  if (!kind.lost.empty()) return 0;
  std::uint64_t bits = 1;
  const auto put = [&bits](std::uint64_t value, unsigned width) {
    bits = bits << width | (value & ((std::uint64_t{1} << width) - 1));
  };
  const bool has_count = kind.operation != OperationId::alltoallv;
  const bool rooted = received_by_root.has(kind.operation) || sent_by_root.has(kind.operation);
  put(static_cast<std::uint64_t>(kind.operation), operation_bits);
  put(static_cast<std::uint64_t>(kind.type), type_bits);
  put(kind.reduces() ? static_cast<std::uint64_t>(kind.op) : 0, op_bits);
  put(rooted ? static_cast<std::uint64_t>(kind.root) : 0, root_bits);
  put(has_count ? kind.count : 0, count_bits);
  return bits;
}

// Returns what a signature says: "broadcast of 7 int32 from root 0".
std::string text_of(std::uint64_t signature) {
  const auto take = [&signature](unsigned width) {
    const std::uint64_t value = signature & ((std::uint64_t{1} << width) - 1);
    signature >>= width;
    return value;
  };
  const std::uint64_t count = take(count_bits);
  const std::uint64_t root = take(root_bits);
  const auto op = static_cast<ReduceOp>(take(op_bits));
  const auto type = static_cast<DataType>(take(type_bits));
  const auto operation = static_cast<OperationId>(take(operation_bits));
  std::string text(operation == OperationId::transfer ? "a message" : name(operation));
  if (operation == OperationId::barrier) return text;
  if (operation == OperationId::alltoallv) return text + fmt::format(" of {}", name(type));
  text += fmt::format(" of {} {}", count, name(type));
  if (reducing_operations.has(operation)) text += fmt::format(" {}", name(op));
  if (received_by_root.has(operation)) text += fmt::format(" to root {}", root);
  if (sent_by_root.has(operation)) text += fmt::format(" from root {}", root);
  return text;
}

StreamKey key_of(const PlannedKind& kind) {
  if (!kind.is_message() || !kind.lost.empty()) return {kind.group};
  return kind.sends ? StreamKey{kind.group, What::sent, kind.self.rank, kind.peer}
                    : StreamKey{kind.group, What::received, kind.peer, kind.self.rank};
}

// A message that cannot be replayed belongs to no stream: its end on the other rank is lost as well.
bool is_in_stream(const PlannedKind& kind) { return !kind.is_message() || kind.lost.empty(); }

void add_parts(Streams& streams, const PlannedKind& kind, std::uint64_t sequence) {
  for (int r = 0; r < kind.self.ranks; ++r) {
    const auto at = static_cast<std::size_t>(r);
    streams[{kind.group, What::part_sent, kind.self.rank, r}].push_back(
        {sequence, kind.send_counts[at] + 1});
    streams[{kind.group, What::part_received, r, kind.self.rank}].push_back(
        {sequence, kind.recv_counts[at] + 1});
  }
}

bool is_out_of_order(const StreamCall& one, const StreamCall& other) {
  return one.sequence >= other.sequence;
}

// One rank's calls of a stream.
struct Party {
  int rank = 0;  // of the job
  const std::vector<StreamCall>* calls = nullptr;

  std::uint64_t at(std::uint64_t sequence, std::uint64_t absent) const {
    const auto found = std::lower_bound(calls->begin(), calls->end(), StreamCall{sequence, 0});
    return found != calls->end() && found->sequence == sequence ? found->signature : absent;
  }
};

constexpr std::uint64_t absent = ~std::uint64_t{0};

// The parties of one stream, and how it is called.
struct SharedStream {
  std::vector<std::pair<StreamKey, Party>> parties;
  std::string text;
  bool parts =
      false;  // of alltoallv: signatures are one more than the elements, and calls that an end lacks are not compared
};

std::string disagreement_text(const SharedStream& stream, std::uint64_t sequence, const Party& one,
                              const Party& other) {
  const auto says = [&](const Party& party) {
    const std::uint64_t signature = party.at(sequence, absent);
    if (stream.parts) return fmt::format("has {} elements", signature - 1);
    return signature == absent ? std::string("has no such call") : "has " + text_of(signature);
  };
  return fmt::format("the traces disagree: {}, sequence {}: rank {} {}, rank {} {}", stream.text,
                     sequence >> place_bits, one.rank, says(one), other.rank, says(other));
}

// Returns true if all parties make the same calls in the same order, and can.
bool are_equal(const SharedStream& stream) {
  if (stream.parties.empty()) return true;
  const std::vector<StreamCall>& first = *stream.parties.front().second.calls;
  const auto is_lost = [](const StreamCall& call) { return call.signature == 0; };
  return std::none_of(first.begin(), first.end(), is_lost) &&
         std::all_of(stream.parties.begin(), stream.parties.end(),
                     [&](const auto& party) { return *party.second.calls == first; });
}

// Returns which rank's calls are not in the order of their numbers. Empty: all are.
std::string disorder(const SharedStream& stream) {
  for (const auto& [key, party] : stream.parties)
    if (const auto at =
            std::adjacent_find(party.calls->begin(), party.calls->end(), is_out_of_order);
        at != party.calls->end())
      return fmt::format(
          "the traces disagree, nothing was replayed: {}: rank {} has sequence {} after {}, and "
          "not all ranks have that order",
          stream.text, party.rank, std::next(at)->sequence >> place_bits,
          at->sequence >> place_bits);
  return {};
}

// Says which calls of a stream are excluded, or where two parties disagree. The odd one out is named first.
void compare(const SharedStream& stream, bool sampled, Agreement& result) {
  if (are_equal(stream)) return;
  result.disagreement = disorder(stream);
  if (!result.disagreement.empty()) return;
  std::set<std::uint64_t> sequences;
  std::uint64_t begin = 0;
  for (const auto& [key, party] : stream.parties) {
    for (const StreamCall& call : *party.calls) sequences.insert(call.sequence);
    if (!party.calls->empty()) begin = std::max(begin, party.calls->front().sequence);
  }
  const auto exclude = [&](std::uint64_t sequence, const std::string& why, bool lost) {
    for (const auto& [key, party] : stream.parties) result.excluded[key][sequence] = {why, lost};
  };
  for (const std::uint64_t sequence : sequences) {
    std::map<std::uint64_t, std::vector<const Party*>> by_signature;
    for (const auto& [key, party] : stream.parties)
      by_signature[party.at(sequence, absent)].push_back(&party);
    if (stream.parts && by_signature.contains(absent)) continue;
    if (by_signature.contains(0)) {
      exclude(sequence, "another rank of its group cannot replay it", true);
    } else if (sequence < begin && by_signature.contains(absent)) {
      exclude(sequence, "recorded before the first call that all ranks of its group have", false);
    } else if (sampled && by_signature.contains(absent)) {
      exclude(sequence, "not in the files of all ranks of its group, which are samples", false);
    } else if (by_signature.size() > 1) {
      const auto fewer = [](const auto& a, const auto& b) {
        return a.second.size() < b.second.size();
      };
      // If as many have the one as have the other, a rank without the call is named first.
      const auto odd = std::min_element(by_signature.begin(), by_signature.end(), fewer);
      const auto usual = std::max_element(by_signature.begin(), by_signature.end(), fewer);
      const auto& first = odd == usual ? *by_signature.rbegin() : *odd;
      const auto& second = odd == usual ? *by_signature.begin() : *usual;
      result.disagreement =
          disagreement_text(stream, sequence, *first.second.front(), *second.second.front());
      return;
    }
  }
}

}  // namespace

Streams streams(RankPlan& plan) {
  Streams all;
  std::map<StreamKey, std::uint64_t> counted;
  for (PlannedCall& call : plan.calls) {
    const PlannedKind& kind = plan.kinds[call.kind];
    if (!is_in_stream(kind)) continue;
    const StreamKey key = key_of(kind);
    std::vector<StreamCall>& calls = all[key];
    std::uint64_t& next = counted[key];
    const std::uint64_t number = call.sequence == not_numbered ? next : call.sequence;
    next = number + 1;
    call.sequence = number << place_bits;
    if (!calls.empty() && calls.back().sequence >> place_bits == call.sequence >> place_bits)
      call.sequence = calls.back().sequence + 1;
    calls.push_back({call.sequence, signature_of(kind)});
    if (kind.operation == OperationId::alltoallv && kind.lost.empty())
      add_parts(all, kind, call.sequence);
  }
  return all;
}

Agreement agree(const std::vector<Streams>& ranks, const std::vector<JobGroup>& groups,
                bool sampled) {
  static const std::vector<StreamCall> none;
  std::set<StreamKey> keys;
  for (const Streams& streams : ranks)
    for (const auto& [key, calls] : streams) keys.insert(key);
  const auto party = [&](const StreamKey& key, int rank) {
    const Streams& all = ranks[static_cast<std::size_t>(rank)];
    const auto at = all.find(key);
    return std::pair(key, Party{rank, at == all.end() ? &none : &at->second});
  };
  Agreement result;
  std::set<StreamKey> done;
  for (StreamKey key : keys) {
    const JobGroup& group = groups[key.group];
    if (!group.unusable.empty()) continue;
    SharedStream stream{.parties = {}, .text = group.text()};
    if (key.what == What::collectives) {
      for (const int member : group.members) stream.parties.push_back(party(key, member));
    } else {
      const bool part = key.what == What::part_sent || key.what == What::part_received;
      stream.parts = part;
      key.what = part ? What::part_sent : What::sent;
      StreamKey back = key;
      back.what = part ? What::part_received : What::received;
      const int from = group.members[static_cast<std::size_t>(key.from)];
      const int to = group.members[static_cast<std::size_t>(key.to)];
      stream.parties = {party(key, from), party(back, to)};
      stream.text += fmt::format(", {} from rank {} to rank {}",
                                 part ? "part of alltoallv" : "messages", from, to);
    }
    if (!done.insert(key).second) continue;
    compare(stream, sampled, result);
    if (!result.disagreement.empty()) return result;
  }
  return result;
}

void apply(RankPlan& plan, const Agreement& agreement) {
  std::map<StreamKey, std::uint32_t> numbers;
  std::vector<PlannedCall> kept;
  for (PlannedCall call : plan.calls) {
    const PlannedKind& kind = plan.kinds[call.kind];
    if (!kind.lost.empty()) {
      ++plan.dropped[kind.lost];
      continue;
    }
    const StreamKey key = key_of(kind);
    if (const auto stream = agreement.excluded.find(key); stream != agreement.excluded.end())
      if (const auto found = stream->second.find(call.sequence); found != stream->second.end()) {
        ++(found->second.lost ? plan.dropped : plan.left_out)[found->second.why];
        continue;
      }
    call.number = numbers[key]++;
    kept.push_back(call);
  }
  plan.calls = std::move(kept);
}

}  // namespace ccl_tests::replay
