// Reads what NCCL leaves: the JSON lines of its Inspector, and the lines of NCCL_DEBUG=INFO.
#include <fmt/format.h>

#include <charconv>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "src/core/error.hpp"
#include "src/core/given_file.hpp"
#include "src/core/quote.hpp"
#include "tools/replay/json_values.hpp"
#include "tools/replay/trace.hpp"

namespace ccl_tests::replay {
namespace {

using Json = nlohmann::json;

constexpr std::size_t longest_line = 1 << 20;

Error cannot_read(const std::string& path, const std::string& why) {
  return Error(fmt::format("cannot read {}: {}", quote(path, shown_path_characters), why));
}

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

// The lines of one process.
class NcclLog {
 public:
  NcclLog(TraceBuilder& builder) : builder_(builder) {}

  void take(std::string_view line) {
    constexpr std::string_view begin = " NCCL INFO ";
    const std::size_t at = line.find(begin);
    if (at == std::string_view::npos) return;
    builder_.record();
    const std::string_view what = line.substr(at + begin.size());
    if (what.find(" commId ") != std::string_view::npos) return take_communicator(what);
    const std::size_t colon = what.find(": opCount ");
    if (colon == std::string_view::npos) return;
    processes_.insert(std::string(line.substr(0, line.find(':', line.find(':') + 1))));
    take_call(what.substr(0, colon), what);
  }
  const std::set<std::string>& processes() const { return processes_; }  // "host:pid"

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
  std::set<std::string> processes_;
};

}  // namespace

RankTrace read_inspector(const std::string& path, std::size_t most_calls) {
  TraceBuilder builder("NCCL Inspector", most_calls);
  builder.set_sampled();
  std::size_t number = 0;
  for_each_given_line(path, longest_line, [&](std::string_view line, bool ended) {
    ++number;
    if (line.find_first_not_of(" \r") == std::string_view::npos) return true;
    try {
      const Json parsed = parse_text(line);
      if (parsed.is_discarded() && !ended)
        throw cannot_read(path, fmt::format("line {} is cut off", number));
      if (parsed.is_discarded())
        throw cannot_read(path, fmt::format("line {} is not JSON", number));
      builder.record();
      take_inspected(builder, parsed);
    } catch (const Json::exception&) {
      builder.drop("a record without what the Inspector writes");
    } catch (const ImpossibleRecord& e) {
      throw cannot_read(path, fmt::format("line {}: {}", number, e.what()));
    }
    return true;
  });
  return builder.finish();
}

RankTrace read_nccl_log(const std::string& path, std::size_t most_calls) {
  TraceBuilder builder("NCCL_DEBUG=INFO", most_calls);
  NcclLog log(builder);
  std::size_t number = 0;
  for_each_given_line(path, longest_line, [&](std::string_view line, bool /*ended*/) {
    ++number;
    try {
      log.take(line);
    } catch (const ImpossibleRecord& e) {
      throw cannot_read(path, fmt::format("line {}: {}", number, e.what()));
    }
    return true;
  });
  if (log.processes().size() > 1)
    throw cannot_read(path, fmt::format("it has lines of {} processes; write one file each: "
                                        "NCCL_DEBUG_FILE=log.%h.%p",
                                        log.processes().size()));
  RankTrace trace = builder.finish();
  if (trace.calls.empty() && trace.dropped.empty())
    throw cannot_read(
        path,
        "it is no trace that ccl_replay reads, or a log without calls; accepted: an execution trace, a flight "
        "recorder as JSON, the Inspector's JSON, a log of NCCL_DEBUG=INFO "
        "NCCL_DEBUG_SUBSYS=INIT,COLL");
  return trace;
}

}  // namespace ccl_tests::replay
