// Reads what PyTorch leaves in JSON: flight recorders and execution traces (Chakra host traces).
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "src/core/quote.hpp"
#include "tools/replay/json_records.hpp"
#include "tools/replay/json_values.hpp"
#include "tools/replay/trace.hpp"

namespace ccl_tests::replay {
namespace {

using Json = nlohmann::json;

// A process group in a trace: "0", or ["0", "default_pg"].
TracedGroup group_of(const Json& value) {
  TracedGroup group;
  if (value.is_string()) group.name = value.get<std::string>();
  if (value.is_number_integer()) group.name = std::to_string(value.get<std::int64_t>());
  if (value.is_array() && !value.empty() && value[0].is_string()) {
    group.name = value[0].get<std::string>();
    if (value.size() > 1 && value[1].is_string()) group.about = value[1].get<std::string>();
  }
  return group;
}

// Sets the type of a call, and its sizes in elements of it. Returns false, and drops the call, if the type is not known.
bool set_type(TraceBuilder& builder, FoundCall& call, const std::string& type, std::size_t in,
              std::size_t out) {
  const auto known = parse_traced_type(type);
  if (!known && in + out > 0) {
    builder.drop(fmt::format("unknown type {}", quote(type)));
    return false;
  }
  call.type = known.value_or(TracedType());
  call.in = bounded_product(in, call.type.elements);
  call.out = bounded_product(out, call.type.elements);
  return true;
}

// Records what PyTorch does not.
void assume_sum(TraceBuilder& builder, const FoundCall& call) {
  if (reducing_operations.has(call.operation))
    builder.assume("reductions are sums: PyTorch does not record the operation");
}

// ---- Flight recorders.

// Returns the elements of a list of shapes: [[3, 4], [5]] are 17.
std::size_t elements(const Json& shapes) {
  std::size_t all = 0;
  for (const Json& shape : shapes) {
    const std::vector<std::size_t> sizes = list(shape);
    if (!shape.is_array() || sizes.size() != shape.size())
      throw ImpossibleRecord("the sizes of its tensors are no lists of whole numbers");
    all = bounded_sum(all,
                      std::accumulate(sizes.begin(), sizes.end(), std::size_t{1}, bounded_product));
  }
  return all;
}

// Reads the ranks behind "nccl:send 0->1" and "nccl:recv 0<-1": first this rank, then the peer.
std::optional<int> peer_in(const std::string& name) {
  std::size_t at = name.find("->");
  if (at == std::string::npos) at = name.find("<-");
  if (at == std::string::npos || at + 2 >= name.size()) return std::nullopt;
  const std::string digits = name.substr(at + 2);
  if (digits.find_first_not_of("0123456789") != std::string::npos || digits.size() > 6)
    return std::nullopt;
  return std::stoi(digits);
}

// Returns the type of the tensors that a call receives or, if there are none, sends. Empty if there is none.
std::string entry_type(const Json& entry) {
  for (const char* key : {"output_dtypes", "input_dtypes"}) {
    const Json types = member(entry, key);
    if (types.is_array() && !types.empty() && types[0].is_string())
      return types[0].get<std::string>();
  }
  return {};
}

void take_entry(TraceBuilder& builder, const Json& entry) {
  const std::string name = text(entry, "profiling_name");
  if (is_mark(name)) return builder.mark(name);
  const auto operation = parse_traced_operation(name);
  if (!operation) return builder.drop(fmt::format("unknown call {}", quote(name)));
  FoundCall call;
  call.operation = operation->operation;
  call.sends = operation->sends;
  const bool message = call.operation == OperationId::transfer;
  TracedGroup group;
  for (const char* key : {"process_group", "pg_name", "pg_id"})
    if (group.name.empty() && entry.contains(key)) group = group_of(entry[key]);
  call.group_name = group.name;
  if (!group.about.empty()) builder.describe(group.name, group.about);
  if (!message) {
    call.sequence = whole(entry, "collective_seq_id");
    if (!call.sequence) call.sequence = whole(entry, "seq_id");
  }
  call.start_s = seconds(entry, "time_created_ns", 1e-9);
  call.duration_s = seconds(entry, "duration_ms", 1e-3);
  if (message) {
    const auto peer = peer_in(name);
    if (!peer) return builder.drop(fmt::format("{} names no peer", quote(name)));
    call.peer = *peer;
  }
  const std::string type = entry_type(entry);
  const std::size_t in = elements(member(entry, "input_sizes"));
  const std::size_t out = elements(member(entry, "output_sizes"));
  if (type.empty() && in + out > 0)
    builder.assume("elements are of float: the recorder is too old to say");
  if (!set_type(builder, call, type.empty() ? "float" : type, in, out)) return;
  assume_sum(builder, call);
  const bool rooted = received_by_root.has(call.operation) || sent_by_root.has(call.operation);
  if (rooted) builder.assume("roots are rank 0: the flight recorder does not record them");
  builder.add(call);
}

void take_pg_config(TraceBuilder& builder, const Json& config) {
  if (!config.is_object()) return;
  for (const auto& [key, value] : config.items()) {
    TracedGroup group;
    group.name = text(value, "name").empty() ? key : text(value, "name");
    if (group.name.empty()) continue;  // Gloo's groups are one entry without a name
    group.about = text(value, "desc");
    if (value.contains("ranks")) group.members = ranks(value["ranks"]);
    builder.describe(group);
  }
}

// ---- Execution traces.

// Returns the elements and the type of a value: a tensor is [id, storage, offset, elements, bytes of one, device], which lists may
// hold.
std::size_t tensor_elements(const Json& value) {
  if (!value.is_array() || value.empty()) return 0;
  if (value.size() == 6 && value[5].is_string() && value[3].is_number()) return *whole(value[3]);
  std::size_t all = 0;
  for (const Json& one : value) all = bounded_sum(all, tensor_elements(one));
  return all;
}

// Returns the first tensor's type of "GenericList[Tensor(float),Tensor(float)]", which a node's
// "inputs" hold, or "input_types" beside them in schemas before 1.1.
std::string tensor_type(const Json& node, const std::string& side, std::size_t at) {
  const Json part = member(node, side.c_str());
  const Json types = part.is_array()
                         ? member(node, (side.substr(0, side.size() - 1) + "_types").c_str())
                         : member(part, "types");
  if (!types.is_array() || types.size() <= at || !types[at].is_string()) return {};
  const auto all = types[at].get<std::string>();
  const std::size_t begin = all.find("Tensor(");
  if (begin == std::string::npos) return {};
  return all.substr(begin, all.find(')', begin) + 1 - begin);
}

Json values_of(const Json& node, const char* side) {
  if (!node.contains(side)) return Json::array();
  const Json& part = node[side];
  if (part.is_array()) return part;  // schemas before 1.1
  return part.contains("values") && part["values"].is_array() ? part["values"] : Json::array();
}

Json attributes(const Json& node) {
  Json all = Json::object();
  if (node.contains("attrs") && node["attrs"].is_array())
    for (const Json& one : node["attrs"])
      if (one.is_object() && one.contains("value")) all[text(one, "name")] = one["value"];
  return all;
}

// The calls of an execution trace. Libraries that PyTorch calls for GPUs have nodes of their own, which say more. For others
// the nodes of PyTorch's operators are taken.
class ExecutionTrace {
 public:
  ExecutionTrace(std::size_t most_calls)
      : recorded_("execution trace", most_calls), operators_("execution trace", most_calls) {}

  void take(const Json& node) {
    recorded_.record();
    operators_.record();
    const std::string name = text(node, "name");
    if (name.find("process_group:init") != std::string::npos) return take_groups(node);
    if (name == "record_param_comms") {
      is_recorded_ = true;
      return take_recorded(node);
    }
    if (name.starts_with("c10d::") && !is_recorded_) take_operator(node, name);
  }

  RankTrace finish() {
    RankTrace trace = (is_recorded_ ? recorded_ : operators_).finish();
    const bool several = is_recorded_ ? addresses_.size() > 1 : groups_ > 1;
    if (!several || trace.calls.empty()) return trace;
    trace.dropped
        ["nodes that name no process group, and the trace has several: take the flight recorder"] +=
        trace.calls.size();
    trace.calls.clear();
    return trace;
  }

 private:
  void take_groups(const Json& node) {
    const Json values = values_of(node, "inputs");
    if (values.empty() || !values[0].is_string()) return;
    const Json all = parse_text(values[0].get<std::string>());
    if (!all.is_array()) return recorded_.mark("process_group:init that is cut off");
    for (const Json& one : all) {
      TracedGroup group = group_of(one.contains("pg_name") ? one["pg_name"] : Json());
      if (group.name.empty()) continue;
      group.about = text(one, "pg_desc");
      if (const auto size = whole(one, "group_size")) group.size = bounded_rank(*size);
      if (one.contains("ranks")) group.members = ranks(one["ranks"]);
      if (group.members.empty() && group.size > 0) {  // all ranks
        group.members.resize(static_cast<std::size_t>(group.size));
        std::iota(group.members.begin(), group.members.end(), 0);
      }
      recorded_.describe(group);
      ++groups_;
      if (groups_ > 1) continue;
      only_group_ = group.name;
      operators_.describe(group);
    }
  }

  // The inputs are the tensors if there are any, then sequence, group, rank, name, splits.
  void take_recorded(const Json& node) {
    const Json attrs = attributes(node);
    const Json values = values_of(node, "inputs");
    std::size_t at = values.size();  // of the name
    for (std::size_t k = 2; k < values.size() && at == values.size(); ++k)
      if (values[k].is_string() && (parse_traced_operation(values[k].get<std::string>()) ||
                                    is_mark(values[k].get<std::string>())))
        at = k;
    std::string name = text(attrs, "collective_name");
    if (name.empty() && at < values.size()) name = values[at].get<std::string>();
    if (is_mark(name)) return recorded_.mark(name);
    const auto operation = parse_traced_operation(name);
    if (!operation) return recorded_.drop(fmt::format("unknown call {}", quote(name)));
    FoundCall call;
    call.operation = operation->operation;
    call.sends = operation->sends;
    call.group_name = text(attrs, "pg_name");
    if (at < values.size()) {
      if (call.group_name.empty()) call.group_name = group_name(values[at - 2]);
      set_peer(call, values[at - 1]);
      if (at >= 3 && call.operation != OperationId::transfer)
        call.sequence = sequence_in(values[at - 3]);
    }
    const auto split = [&](const char* key, std::size_t behind) {
      if (attrs.contains(key)) {
        const std::vector<std::size_t> numbers = list(attrs[key]);
        const bool cut_off = numbers.empty() && text(attrs, key).size() > std::string("[]").size();
        return cut_off ? std::vector<std::size_t>{0} : numbers;  // which fits no size
      }
      return at + behind < values.size() ? list(values[at + behind]) : std::vector<std::size_t>();
    };
    call.in_splits = split("in_split_size", 1);
    call.out_splits = split("out_split_size", 2);
    const Json outputs = values_of(node, "outputs");
    const bool has_tensors = at > 3 && at < values.size();
    const std::size_t in =
        whole(attrs, "in_msg_nelems").value_or(has_tensors ? tensor_elements(values[0]) : 0);
    const std::size_t out = whole(attrs, "out_msg_nelems").value_or(tensor_elements(outputs));
    std::string type = text(attrs, "dtype");
    for (const char* side : {"inputs", "outputs"})
      if (type.empty()) type = tensor_type(node, side, 0);
    if (!set_type(recorded_, call, type, in, out)) return;
    assume_sum(recorded_, call);
    recorded_.add(call);
  }

  // Before schema 1.0.2 a process group has an address instead of a name.
  std::string group_name(const Json& value) {
    if (!value.is_number()) return group_of(value).name;
    addresses_.insert(*whole(value));
    recorded_.assume("all calls are of one process group: the trace has its address, no name");
    return only_group_;
  }

  static std::optional<std::uint64_t> sequence_in(const Json& value) {
    const Json& number = value.is_array() && !value.empty() ? value[0] : value;
    return number.is_number_unsigned() ? std::optional(number.get<std::uint64_t>()) : std::nullopt;
  }

  // value: the root of rooted operations, the peer of messages; below 0: none.
  static void set_peer(FoundCall& call, const Json& value) {
    const bool message = call.operation == OperationId::transfer;
    const bool rooted = received_by_root.has(call.operation) || sent_by_root.has(call.operation);
    if (!value.is_number() || !(message || rooted)) return;
    const bool none = value.is_number_integer() && value < 0;
    (message ? call.peer : call.root) = none ? -1 : bounded_rank(*whole(value));
  }

  // "c10d::NAME": what is received before what is sent, then the group, then the rest.
  void take_operator(const Json& node, const std::string& name) {
    if (is_mark(name)) return operators_.mark(name);
    const auto operation = parse_traced_operation(name);
    if (!operation) {
      // c10d:: has functions that are no calls.
      return operators_.mark(name);
    }
    FoundCall call;
    call.operation = operation->operation;
    call.sends = operation->sends;
    call.group_name = only_group_;
    const Json values = values_of(node, "inputs");
    using enum OperationId;
    const bool two =
        OperationSet{all_gather, reduce_scatter, alltoall, gather, scatter}.has(call.operation);
    const auto at = [&](std::size_t k) { return k < values.size() ? values[k] : Json(); };
    const std::size_t out = tensor_elements(at(0));
    const std::size_t in = two ? tensor_elements(at(1)) : out;
    const std::size_t rank_at = call.operation == broadcast || call.operation == transfer ? 2 : 3;
    set_peer(call, at(rank_at));
    if (call.operation == alltoall) {
      call.out_splits = list(at(3));
      call.in_splits = list(at(4));
    }
    const bool barrier_node = call.operation == barrier;
    std::string type = tensor_type(node, "inputs", 0);
    if (type.empty() && two) type = tensor_type(node, "inputs", 1);
    if (!set_type(operators_, call, type, barrier_node ? 0 : in, barrier_node ? 0 : out)) return;
    assume_sum(operators_, call);
    operators_.add(call);
  }

  TraceBuilder recorded_, operators_;
  bool is_recorded_ = false;
  std::size_t groups_ = 0;
  std::string only_group_ = "0";
  std::set<std::uint64_t> addresses_;  // of groups without a name
};

}  // namespace

RankTrace read_json_trace(const TracePlace& place, std::size_t most_calls) {
  TraceBuilder recorder("flight recorder", most_calls);
  ExecutionTrace execution(most_calls);
  bool has_entries = false, has_nodes = false;
  std::map<std::string, std::size_t> records;  // by name
  const auto take = [&](const std::string& name, const Json& record) {
    if (record.is_discarded()) {  // the list begins
      (name == "nodes" ? has_nodes : has_entries) = true;
      return;
    }
    ++records[name];
    if (name == "pg_config") return take_pg_config(recorder, record);
    if (!record.is_object()) return;
    if (name == "nodes") return execution.take(record);
    if (record.contains("entries") || record.contains("nodes"))
      throw ImpossibleRecord("it is a whole trace; accepted: a file for each rank");
    recorder.record();
    take_entry(recorder, record);
  };
  for_each_record(
      place, {"entries", "nodes"}, {"pg_config"}, [&](const std::string& name, const Json& record) {
        try {
          take(name, record);
        } catch (const ImpossibleRecord& e) {
          throw cannot_read(place, fmt::format("record {}{}{}: {}", records[name],
                                               name.empty() ? "" : " of ", name, e.what()));
        }
      });
  if (has_nodes) return execution.finish();
  if (has_entries) return recorder.finish();
  throw cannot_read(
      place, "it has no \"entries\" of a flight recorder and no \"nodes\" of an execution trace");
}

}  // namespace ccl_tests::replay
