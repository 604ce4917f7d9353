#include "tools/replay/trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>
#include <utility>

#include "src/core/quote.hpp"

namespace ccl_tests::replay {
namespace {

// Returns the name in small letters, without underscores, what stands before the last colon, and what follows a blank.
std::string plain(std::string_view name) {
  if (const std::size_t blank = name.find(' '); blank != std::string_view::npos)
    name = name.substr(0, blank);
  if (const std::size_t colon = name.rfind(':'); colon != std::string_view::npos)
    name.remove_prefix(colon + 1);
  std::string text;
  for (const char c : name)
    if (c != '_') text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

std::string type_word(std::string_view name) {
  std::string text(name);
  for (const std::string_view noise : {"Tensor(", "c10::", ")"})
    if (const std::size_t at = text.find(noise); at != std::string::npos)
      text.erase(at, noise.size());
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// Takes the size of a group from a call of it, if the trace has not said it.
void learn_size(TracedGroup& group, const CallKind& call) {
  if (group.size > 0 || !group.members.empty()) return;
  const std::size_t one = call.operation == OperationId::all_gather ? call.in : call.out;
  const std::size_t all = call.operation == OperationId::all_gather ? call.out : call.in;
  const bool tells =
      call.operation == OperationId::all_gather || call.operation == OperationId::reduce_scatter;
  if (call.in_splits.size() > 1) group.size = static_cast<int>(call.in_splits.size());
  if (tells && one > 0 && all % one == 0 && all / one <= most_ranks)
    group.size = static_cast<int>(all / one);
}

ImpossibleRecord too_large() {
  return ImpossibleRecord("a call has buffers of less than 1 TiB (2^40 B), and this one has more");
}

// Returns why no trace has such a head. Empty: one may have it.
std::string why_none(std::string_view head) {
  static constexpr std::pair<std::string_view, std::string_view> packed[] = {
      {"\x1f\x8b", "gunzip"},
      {"\x28\xb5\x2f\xfd", "unzstd"},
      {"\xfd"
       "7zXZ",
       "unxz"},
      {"BZh", "bunzip2"},
      {"PK\x03\x04", "unzip"}};
  if (head.find_first_not_of(" \t\r\n") == std::string_view::npos) return "it is empty";
  if (head.starts_with("\x80"))
    return "it is a pickle; convert it: python3 -c 'import json,pickle,sys; "
           "json.dump(pickle.load(sys.stdin.buffer),sys.stdout)' <FILE >FILE.json";
  for (const auto& [magic, tool] : packed)
    if (head.starts_with(magic)) return fmt::format("it is compressed; unpack it: {} FILE", tool);
  return head.find('\0') != std::string_view::npos ? "it is no text" : "";
}

enum class Kind { none, json, inspector, log };

// Returns what a trace with such a head is. Launchers put words of many forms in front of a log's
// lines.
Kind kind_of(std::string_view head) {
  constexpr std::string_view blanks = " \t\r\n";
  if (!why_none(head).empty()) return Kind::none;
  if (head.find("] NCCL INFO ") != std::string_view::npos) return Kind::log;
  const std::size_t first = head.find_first_not_of(blanks);
  const std::size_t second = head.find_first_not_of(blanks, first + 1);
  const char behind = second == std::string_view::npos ? '"' : head[second];
  const std::string_view allowed = head[first] == '{' ? "\"}" : head[first] == '[' ? "\"{[]" : "";
  if (allowed.find(behind) == std::string_view::npos) return Kind::log;
  const bool inspector = head.find("\"coll_perf\"") != std::string_view::npos ||
                         head.find("\"inspector_output_format_version\"") != std::string_view::npos;
  return inspector ? Kind::inspector : Kind::json;
}

}  // namespace

std::size_t bounded_sum(std::size_t one, std::size_t other) {
  if (one > most_bytes || other > most_bytes - one) throw too_large();
  return one + other;
}

std::size_t bounded_product(std::size_t one, std::size_t other) {
  if (other > 0 && one > most_bytes / other) throw too_large();
  return one * other;
}

int bounded_rank(std::uint64_t rank) {
  if (rank > most_ranks)
    throw ImpossibleRecord(fmt::format("a job has at most {} ranks, not {}", most_ranks, rank));
  return static_cast<int>(rank);
}

std::optional<TracedType> parse_traced_type(std::string_view name) {
  using enum DataType;
  static const std::map<std::string, TracedType> types = {{"float", {float32}},
                                                          {"double", {float64}},
                                                          {"half", {half}},
                                                          {"bfloat16", {bfloat16}},
                                                          {"int", {int32}},
                                                          {"long", {int64}},
                                                          {"long int", {int64}},
                                                          {"char", {int8}},
                                                          {"signed char", {int8}},
                                                          {"byte", {uint8}},
                                                          {"unsigned char", {uint8}},
                                                          {"bool", {uint8}},
                                                          {"uint32", {uint32}},
                                                          {"uint64", {uint64}},
                                                          {"float8_e4m3fn", {f8e4m3}},
                                                          {"float8_e5m2", {f8e5m2}},
                                                          {"complexfloat", {float32, 2}},
                                                          {"complexdouble", {float64, 2}},
                                                          {"complex<float>", {float32, 2}},
                                                          {"complex<double>", {float64, 2}},
                                                          {"short", {uint8, 2, true}},
                                                          {"short int", {uint8, 2, true}},
                                                          {"uint16", {uint8, 2, true}},
                                                          {"float8_e4m3fnuz", {uint8, 1, true}},
                                                          {"float8_e5m2fnuz", {uint8, 1, true}}};
  const auto found = types.find(type_word(name));
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

std::optional<TracedOperation> parse_traced_operation(std::string_view name) {
  using enum OperationId;
  static const std::map<std::string, TracedOperation> operations = {
      {"allreduce", {all_reduce}},
      {"allreducecoalesced", {all_reduce}},
      {"allreducebarrier", {all_reduce}},
      {"reduce", {reduce}},
      {"reduceoop", {reduce}},
      {"broadcast", {broadcast}},
      {"broadcastoop", {broadcast}},
      {"allgather", {all_gather}},
      {"allgatherbase", {all_gather}},
      {"allgatherintotensor", {all_gather}},
      {"allgathercoalesced", {all_gather}},
      {"allgatherintotensorcoalesced", {all_gather}},
      {"reducescatter", {reduce_scatter}},
      {"reducescatterbase", {reduce_scatter}},
      {"reducescattertensor", {reduce_scatter}},
      {"reducescattercoalesced", {reduce_scatter}},
      {"reducescattertensorcoalesced", {reduce_scatter}},
      {"alltoall", {alltoall}},
      {"alltoallv", {alltoall}},
      {"alltoallbase", {alltoall}},
      {"alltoallsingle", {alltoall}},
      {"gather", {gather}},
      {"scatter", {scatter}},
      {"barrier", {barrier}},
      {"send", {transfer, true}},
      {"recv", {transfer, false}}};
  const auto found = operations.find(plain(name));
  return found == operations.end() ? std::nullopt : std::optional(found->second);
}

bool is_mark(std::string_view name) {
  static const std::set<std::string> marks = {"wait", "init", "coalesced", "groupstart",
                                              "groupend"};
  return marks.contains(plain(name));
}

std::uint32_t TraceBuilder::group_index(const std::string& name) {
  const auto [at, is_new] =
      group_indices_.try_emplace(name, static_cast<std::uint32_t>(trace_.groups.size()));
  if (is_new) trace_.groups.push_back({.name = name});
  return at->second;
}

void require_possible(const TracedGroup& group) {
  const auto refuse = [&](const std::string& what) {
    throw ImpossibleRecord(fmt::format("group {} {}", quote(group.name), what));
  };
  const std::set<int> different(group.members.begin(), group.members.end());
  if (different.size() < group.members.size()) refuse("has a member twice");
  if (group.size == 0) refuse("has 0 ranks");
  if (group.size > 0 && !group.members.empty() && different.size() != std::size_t(group.size))
    refuse(fmt::format("has {} ranks and lists {}", group.size, different.size()));
  if (group.rank >= 0 && group.rank >= group.size)
    refuse(fmt::format("has {} ranks, and this is rank {} of it", group.size, group.rank));
}

void require_possible(const FoundCall& call) {
  for (const std::size_t elements : {call.in, call.out})
    bounded_product(elements, size_of(call.type.type));
  for (const auto* splits : {&call.in_splits, &call.out_splits})
    bounded_product(std::accumulate(splits->begin(), splits->end(), std::size_t{0}, bounded_sum),
                    size_of(call.type.type));
  for (const int rank : {call.root, call.peer}) bounded_rank(std::max(0, rank));
  if (call.sequence && *call.sequence >= most_numbers)
    throw ImpossibleRecord(fmt::format("{} is no number of a call: 2^44 or more", *call.sequence));
  if (call.duration_s < 0 || call.duration_s > most_seconds)
    throw ImpossibleRecord(fmt::format("no call lasts {:g} s", call.duration_s));
  if (std::abs(call.start_s) > most_seconds)
    throw ImpossibleRecord(fmt::format("no clock shows {:g} s", call.start_s));
}

void TraceBuilder::describe(const TracedGroup& group) {
  require_possible(group);
  TracedGroup& known = trace_.groups[group_index(group.name)];
  if (known.rank >= 0 && group.rank >= 0 && known.rank != group.rank)
    throw ImpossibleRecord(
        fmt::format("it has calls of ranks {} and {} of group {}; accepted: one rank in a file",
                    known.rank, group.rank, quote(group.name)));
  known = group;
}

void TraceBuilder::add(const FoundCall& call) {
  constexpr std::size_t most_splits = 1 << 18;
  const std::size_t splits = call.in_splits.size() + call.out_splits.size();
  require_possible(call);
  if (trace_.calls.size() >= most_calls_)
    return drop(fmt::format("beyond the first {} of a rank (--max-calls)", most_calls_));
  if (splits_ + splits > most_splits)
    return drop(fmt::format("beyond the first {} splits of a rank that differ", most_splits));
  CallKind kind = call;
  kind.group = group_index(call.group_name);
  learn_size(trace_.groups[kind.group], kind);
  const auto [at, is_new] =
      kind_indices_.try_emplace(kind, static_cast<std::uint32_t>(trace_.kinds.size()));
  if (is_new) {
    trace_.kinds.push_back(kind);
    splits_ += splits;
  }
  trace_.calls.push_back({call.sequence.value_or(not_numbered), call.start_s,
                          static_cast<float>(call.duration_s), at->second});
}

RankTrace read_trace(const TracePlace& place, std::size_t most_calls) {
  const std::string head = head_of(place);
  if (place.member.empty() && is_archive(head)) {
    const std::vector<TracePlace> traces = traces_in(place.file);
    if (traces.size() == 1) return read_trace(traces.front(), most_calls);
    throw cannot_read(place, fmt::format("it has {} traces; accepted: one in each file, or all in "
                                         "one file",
                                         traces.size()));
  }
  switch (kind_of(head)) {
    case Kind::log: return read_nccl_log(place, most_calls);
    case Kind::inspector: return read_inspector(place, most_calls);
    case Kind::json: return read_json_trace(place, most_calls);
    case Kind::none: break;
  }
  throw cannot_read(place, why_none(head));
}

std::vector<TracePlace> traces_in(const std::string& file) {
  std::vector<TracePlace> traces;
  const auto add = [&](const TracePlace& place) {
    const Kind kind = kind_of(head_of(place));
    const auto processes = kind == Kind::log ? processes_of(place) : std::vector{place};
    if (kind != Kind::none) traces.insert(traces.end(), processes.begin(), processes.end());
  };
  if (!is_archive(head_of({file}))) {
    add({file});
    return traces.empty() ? std::vector<TracePlace>{{file}} : traces;  // whose reader says why
  }
  for (const std::string& member : members_of(file)) add({file, member});
  if (traces.empty()) throw cannot_read({file}, "it is an archive without traces");
  return traces;
}

}  // namespace ccl_tests::replay
