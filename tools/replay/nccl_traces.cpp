// Reads what NCCL leaves: the JSON lines of its Inspector, and the lines of NCCL_DEBUG=INFO.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/quote.hpp"
#include "tools/replay/json_values.hpp"
#include "tools/replay/trace.hpp"

namespace ccl_tests::replay {
namespace {

using Json = nlohmann::json;

// NCCL's count is a block's of operations that have blocks, as in Call. Sets both sizes for a group of so many ranks.
void set_sizes(FoundCall& call, std::size_t count, int ranks) {
  using enum OperationId;
  const OperationId o = call.operation;
  const auto blocks = [&](bool all) {
    return bounded_product(count, all ? static_cast<std::size_t>(ranks) : 1);
  };
  call.in = blocks(o == reduce_scatter || o == alltoall || o == scatter);
  call.out = blocks(o == all_gather || o == alltoall || o == gather);
}

// Returns a number that has to be there. Throws Json::exception if it is not.
std::uint64_t number_at(const Json& object, const char* key) {
  const Json& value = object.at(key);
  return whole(value).value_or(value.get<std::uint64_t>());
}

// ---- The Inspector.

void take_inspected(TraceBuilder& builder, const Json& line) {
  if (!line.contains("coll_perf"))
    return builder.mark("a line about something else than collectives");
  const Json& header = line.at("header");
  const Json& perf = line.at("coll_perf");
  const auto name = perf.at("coll").get<std::string>();
  const auto operation = parse_traced_operation(name);
  if (!operation || operation->operation == OperationId::transfer)
    return builder.drop(fmt::format("unknown call {}", quote(name)));
  FoundCall call;
  call.operation = operation->operation;
  call.group_name = header.at("id").get<std::string>();
  const int ranks = bounded_rank(number_at(header, "n_ranks"));
  builder.describe(
      {.name = call.group_name, .size = ranks, .rank = bounded_rank(number_at(header, "rank"))});
  call.sequence = number_at(perf, "coll_sn");
  std::size_t bytes = number_at(perf, "coll_msg_size_bytes");
  if (reducing_operations.has(call.operation)) {
    if (bytes % sizeof(float) == 0) {
      call.type = {DataType::float32};
      bytes /= sizeof(float);
    }
    builder.assume(
        "reductions are sums of float: the Inspector records neither type nor operation");
  }
  if (received_by_root.has(call.operation) || sent_by_root.has(call.operation))
    builder.assume("roots are rank 0: the Inspector does not record them");
  set_sizes(call, bytes, ranks);
  call.duration_s = seconds(perf, "coll_exec_time_us", 1e-6);
  call.start_s = seconds(member(perf, "event_trace_ts"), "coll_start_ts", 1e-6);
  builder.add(call);
}

// ---- NCCL_DEBUG=INFO.

// Returns the word behind `name` in a line: of "count 4 datatype 7" and "count " the "4".
std::optional<std::string_view> word_behind(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  line.remove_prefix(at + name.size());
  return line.substr(0, line.find_first_of(" ]\r"));
}

std::optional<std::size_t> number_behind(std::string_view line, std::string_view name) {
  const auto word = word_behind(line, name);
  std::size_t number = 0;
  if (!word) return std::nullopt;
  const auto [end, error] = std::from_chars(word->data(), word->data() + word->size(), number);
  if (error == std::errc::result_out_of_range || word->starts_with('-'))
    throw ImpossibleRecord(fmt::format("{} is no number from 0 to 2^64 - 1", quote(*word)));
  return error == std::errc() && end == word->data() + word->size() ? std::optional(number)
                                                                    : std::nullopt;
}

constexpr std::string_view mark = " NCCL INFO ", call_mark = ": opCount ", init_mark = " commId ";

// Returns how many of the last characters of a text are some of `set`.
std::size_t last_of(std::string_view text, std::string_view set) {
  return text.size() - (text.find_last_not_of(set) + 1);
}

// Returns the line without the colours of a terminal.
std::string without_colours(std::string_view line) {
  std::string plain;
  for (std::size_t k = 0; k < line.size(); ++k)
    if (line.substr(k, 2) == "\x1b[")
      k = std::min(line.find_first_not_of("0123456789;", k + 2), line.size());
    else
      plain += line[k];
  return plain;
}

// A line of NCCL. Libraries and launchers put words of their own in front of it:
// "[1,0]<stdout>:host:pid:tid [device] NCCL INFO ...".
struct NcclLine {
  std::string_view host, pid, device, what;
  // Empty if a part of it is cut off.
  std::string process() const {
    const bool whole = !host.empty() && !pid.empty() && !device.empty();
    return whole ? fmt::format("{}:{} [{}]", host, pid, device) : "";
  }
};
// Returns a line that is about a communicator or a call. Throws ImpossibleRecord for one that
// stands for others.
std::optional<NcclLine> nccl_line(std::string_view line) {
  constexpr std::string_view digits = "0123456789";
  const std::size_t at = line.find(mark);
  if (at == std::string_view::npos) return std::nullopt;
  NcclLine found;
  found.what = line.substr(at + mark.size());
  if (found.what.find(init_mark) == std::string_view::npos &&
      found.what.find(call_mark) == std::string_view::npos)
    return std::nullopt;
  if (line.find("[repeated ") != std::string_view::npos)
    throw ImpossibleRecord("Ray left out lines like it; accepted: a log of RAY_DEDUP_LOGS=0");
  // From the end: "]", the device, " [", the thread, ":", the process, ":", the host.
  std::string_view rest = line.substr(0, at);
  const auto take = [&rest](std::string_view set, std::string_view before) {
    const std::size_t count = last_of(rest, set);
    const std::string_view word = rest.substr(rest.size() - count);
    rest.remove_suffix(count);
    if (count == 0 || !rest.ends_with(before)) return std::string_view();
    rest.remove_suffix(before.size());
    return word;
  };
  if (rest.ends_with(']')) rest.remove_suffix(1);
  found.device = take(digits, " [");
  take(digits, ":");
  found.pid = take(digits, ":");
  found.host = take("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.", "");
  if (found.what.starts_with('['))  // "[2] AllReduce", of some releases
    found.what.remove_prefix(std::min(found.what.find(' ') + 1, found.what.size()));
  return found;
}

// The lines of one process and device.
class NcclLog {
 public:
  NcclLog(TraceBuilder& builder) : builder_(builder) {}

  void take(const NcclLine& line) {
    builder_.record();
    const std::size_t colon = line.what.find(call_mark);
    if (line.what.find(mark) != std::string_view::npos)
      return builder_.drop("lines of two processes in one");
    if (colon == std::string_view::npos) return take_communicator(line.what);
    take_call(line.what.substr(0, colon), line.what);
  }

 private:
  // "ncclCommInitRank comm 0x55 rank 0 nranks 4 ... commId 0x77 - Init COMPLETE"
  void take_communicator(std::string_view line) {
    const auto comm = word_behind(line, " comm ");
    const auto rank = number_behind(line, " rank ");
    const auto ranks = number_behind(line, " nranks ");
    const auto id = word_behind(line, " commId ");
    if (!comm || !rank || !ranks || !id) return;
    names_[std::string(*comm)] = std::string(*id);
    builder_.describe(
        {.name = std::string(*id), .size = bounded_rank(*ranks), .rank = bounded_rank(*rank)});
  }

  void take_call(std::string_view name, std::string_view line) {
    const auto operation = parse_traced_operation(name);
    if (!operation) return builder_.drop(fmt::format("unknown call {}", quote(name)));
    const auto count = number_behind(line, " count ");
    const auto type = number_behind(line, " datatype ");
    const auto op = number_behind(line, " op ");
    const auto root = number_behind(line, " root ");
    const auto comm = word_behind(line, " comm ");
    const auto ranks = number_behind(line, "[nranks=");
    if (!count || !type || !op || !root || !comm || !ranks)
      return builder_.drop("a line of a call that is cut off");
    if (*type >= all_types().size())
      return builder_.drop(fmt::format("unknown datatype {}", *type));
    FoundCall call;
    call.operation = operation->operation;
    call.sends = operation->sends;
    call.group_name = group_name(std::string(*comm), bounded_rank(*ranks));
    call.type = {all_types()[*type]};
    constexpr std::size_t nccl_avg = 4;
    if (reducing_operations.has(call.operation)) {
      if (*op <= nccl_avg)
        call.op = static_cast<ReduceOp>(*op);
      else
        builder_.assume("operations of the user's own are sums");
    }
    (call.operation == OperationId::transfer ? call.peer : call.root) = bounded_rank(*root);
    set_sizes(call, *count, bounded_rank(*ranks));
    builder_.add(call);
  }

  // A communicator without a line of its start is known by its size and by how many of that size were used before.
  std::string group_name(const std::string& comm, int ranks) {
    const auto known = names_.find(comm);
    if (known != names_.end()) return known->second;
    const std::string name = fmt::format("communicator {} of {} ranks", ++unnamed_[ranks], ranks);
    builder_.assume(
        "communicators of equal size are the same in the order of their first use: the log has no "
        "INIT lines");
    builder_.describe({.name = name, .size = ranks});
    return names_[comm] = name;
  }

  TraceBuilder& builder_;
  std::map<std::string, std::string> names_;  // by address
  std::map<int, int> unnamed_;                // by size
};

// Calls take(line, its number) for NCCL's lines in a log that are about communicators and calls.
void for_each_nccl_line(const TracePlace& place,
                        const std::function<void(const NcclLine& line)>& take) {
  std::size_t number = 0;
  for_each_line(place, [&](std::string_view text, bool /*ended*/) {
    ++number;
    std::string plain;
    if (text.find('\x1b') != std::string_view::npos) text = plain = without_colours(text);
    try {
      if (const auto line = nccl_line(text)) take(*line);
    } catch (const ImpossibleRecord& e) {
      throw cannot_read(place, fmt::format("line {}: {}", number, e.what()));
    }
  });
}

}  // namespace

RankTrace read_inspector(const TracePlace& place, std::size_t most_calls) {
  TraceBuilder builder("NCCL Inspector", most_calls);
  builder.set_sampled();
  std::size_t number = 0;
  for_each_line(place, [&](std::string_view line, bool ended) {
    ++number;
    if (line.find_first_not_of(" \r") == std::string_view::npos) return;
    try {
      const Json parsed = parse_text(line);
      if (parsed.is_discarded() && !ended)
        throw cannot_read(place, fmt::format("line {} is cut off", number));
      if (parsed.is_discarded())
        throw cannot_read(place, fmt::format("line {} is not JSON", number));
      builder.record();
      take_inspected(builder, parsed);
    } catch (const Json::exception&) {
      builder.drop("a record without what the Inspector writes");
    } catch (const ImpossibleRecord& e) {
      throw cannot_read(place, fmt::format("line {}: {}", number, e.what()));
    }
  });
  return builder.finish();
}

std::vector<TracePlace> processes_of(const TracePlace& log) {
  std::vector<TracePlace> found;
  std::map<std::string, std::size_t> indices;
  for_each_nccl_line(log, [&](const NcclLine& line) {
    if (line.process().empty()) return;
    const auto [at, is_new] = indices.try_emplace(line.process(), found.size());
    if (is_new) found.push_back({log.file, log.member, line.process()});
    TracePlace& place = found[at->second];
    const int ranks = bounded_rank(number_behind(line.what, " nranks ").value_or(0));
    if (ranks <= place.world_ranks) return;
    place.world_ranks = ranks;
    place.world_rank = bounded_rank(number_behind(line.what, " rank ").value_or(0));
    place.world = word_behind(line.what, init_mark).value_or("");
  });
  return found;
}

RankTrace read_nccl_log(const TracePlace& place, std::size_t most_calls) {
  TraceBuilder builder("NCCL_DEBUG=INFO", most_calls);
  NcclLog log(builder);
  std::string process = place.process;
  for_each_nccl_line(place, [&](const NcclLine& line) {
    if (line.process().empty()) return builder.drop("a line that names no process");
    if (process.empty()) process = line.process();
    if (line.process() == process) return log.take(line);
    if (place.process.empty())
      throw ImpossibleRecord(
          fmt::format("it has lines of 2 processes, {} and {}; accepted: one "
                      "file each, by NCCL_DEBUG_FILE=log.%h.%p, or all in one",
                      quote(process), quote(line.process())));
  });
  RankTrace trace = builder.finish();
  if (trace.calls.empty() && trace.dropped.empty() && process.empty())
    throw cannot_read(
        place,
        "it is no trace that ccl_replay reads, or a log without calls; accepted: an execution trace, a flight "
        "recorder as JSON, the Inspector's JSON, a log of NCCL_DEBUG=INFO "
        "NCCL_DEBUG_SUBSYS=INIT,COLL");
  return trace;
}

}  // namespace ccl_tests::replay
