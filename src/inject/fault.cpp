#include "src/inject/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <set>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"

namespace ccl_tests {
namespace {

using enum FaultKind;

struct Described {
  FaultKind kind;
  std::string_view name, about;
};
constexpr std::array described = {
    Described{flipped_bit, "flipped-bit", "one bit of one element of the result differs"},
    Described{flipped_sign, "flipped-sign", "one element of the result has the other sign"},
    Described{swapped_blocks, "swapped-blocks", "two blocks of the result have changed places"},
    Described{shifted_block, "shifted-block", "the result is one element farther back"},
    Described{stale_result, "stale-result", "the result is that of the call before"},
    Described{missing_contribution, "missing-contribution",
              "one rank's data are not in the results"},
    Described{doubled_contribution, "doubled-contribution", "one rank's data are reduced twice"},
    Described{wrong_op, "wrong-op", "the library reduces with another operation"},
    Described{wrong_root, "wrong-root", "the library takes the next rank for the root"},
    Described{truncated_tail, "truncated-tail", "the last element of the result is not written"},
    Described{written_behind, "written-behind",
              "an element past the end of the receive buffer is written"},
    Described{written_before, "written-before",
              "an element before the start of the receive buffer is written"},
    Described{changed_input, "changed-input", "one bit of the send buffer differs"},
    Described{reduced_precision, "reduced-precision",
              "the result lacks its last bits of precision"},
    Described{zeroed_result, "zeroed-result", "the result is zero"},
};
constexpr auto kinds = [] {
  std::array<FaultKind, described.size()> result{};
  for (std::size_t k = 0; k < result.size(); ++k) result[k] = described[k].kind;
  return result;
}();

const Described& description(FaultKind kind) {
  return *std::find_if(described.begin(), described.end(),
                       [&](const Described& d) { return d.kind == kind; });
}

constexpr std::string_view accepted =
    "KIND[:rank=R|all][:at=SIZE][:call=N][:every=N][:phase=untimed|timed]";

std::size_t number(std::string_view key, std::string_view text, std::size_t least) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || value < least)
    throw UsageError(fmt::format("{}={}; accepted: a number from {} on", key, quote(text), least));
  std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const std::string_view units = "KMG";
  if (key == "at" && unit.size() == 1 && units.find(unit.front()) != std::string_view::npos) {
    const std::size_t shift = 10 * (units.find(unit.front()) + 1);
    if (value > std::numeric_limits<std::size_t>::max() >> shift)
      throw UsageError(fmt::format("{}={} is too large; accepted: bytes", key, quote(text)));
    return value << shift;
  }
  if (!unit.empty())
    throw UsageError(fmt::format("{}={}; accepted: a number from {} on", key, quote(text), least));
  return value;
}

void read_setting(Fault& fault, std::string_view key, std::string_view value) {
  constexpr std::size_t most_ranks = 1 << 20;
  if (key == "rank") {
    fault.rank =
        value == "all" ? -1 : static_cast<int>(std::min(number(key, value, 0), most_ranks));
  } else if (key == "at") {
    fault.at_bytes = number(key, value, 0);
  } else if (key == "call") {
    fault.call = number(key, value, 1);
  } else if (key == "every") {
    fault.every = number(key, value, 1);
  } else if (key == "phase" && value == "untimed") {
    fault.phase = CallPhase::untimed;
  } else if (key == "phase" && value == "timed") {
    fault.phase = CallPhase::timed;
  } else if (key == "phase") {
    throw UsageError(unknown_name("phase", value, {"untimed", "timed"}));
  } else {
    throw UsageError(unknown_name("setting", key, {"rank", "at", "call", "every", "phase"}));
  }
}

// x op x is x.
bool is_idempotent(ReduceOp op) {
  using enum ReduceOp;
  return op == max || op == min || op == band || op == bor;
}

bool is_integer(DataType type) {
  using enum DataType;
  return type == int8 || type == uint8 || type == int32 || type == uint32 || type == int64 ||
         type == uint64;
}

}  // namespace

std::span<const FaultKind> all_faults() { return kinds; }
std::vector<std::string> fault_names() {
  std::vector<std::string> names;
  for (const Described& d : described) names.emplace_back(d.name);
  return names;
}
std::string_view name(FaultKind kind) { return description(kind).name; }
std::string_view about(FaultKind kind) { return description(kind).about; }

Fault parse_fault(std::string_view text) {
  const auto next = [&] {
    const std::size_t end = std::min(text.find(':'), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
  };
  const std::string_view kind = next();
  const auto found = std::find_if(described.begin(), described.end(),
                                  [&](const Described& d) { return d.name == kind; });
  if (found == described.end()) throw UsageError(unknown_name("kind", kind, fault_names()));
  Fault fault;
  fault.kind = found->kind;
  std::set<std::string_view> keys;
  while (!text.empty()) {
    const std::string_view setting = next();
    const std::size_t equals = std::min(setting.find('='), setting.size());
    const std::string_view key = setting.substr(0, equals);
    read_setting(fault, key, setting.substr(std::min(equals + 1, setting.size())));
    if (!keys.insert(key).second)
      throw UsageError(fmt::format("{} is given twice; accepted: {}", key, accepted));
  }
  return fault;
}

std::string text_of(const Fault& fault) {
  std::string text(name(fault.kind));
  if (!is_collective(fault.kind))
    text += ":rank=" + (fault.rank < 0 ? "all" : std::to_string(fault.rank));
  if (fault.at_bytes) text += fmt::format(":at={}", *fault.at_bytes);
  if (fault.call > 0) text += fmt::format(":call={}", fault.call);
  if (fault.every > 1) text += fmt::format(":every={}", fault.every);
  if (fault.phase != CallPhase::any)
    text += fault.phase == CallPhase::timed ? ":phase=timed" : ":phase=untimed";
  return text;
}

bool is_collective(FaultKind kind) { return kind == wrong_op || kind == wrong_root; }

std::optional<std::string> why_harmless(FaultKind kind, OperationId operation, DataType type,
                                        ReduceOp op, int ranks) {
  if (operation == OperationId::barrier) return "a barrier moves no data";
  switch (kind) {
    case doubled_contribution:
    case wrong_op:
      if (!reducing_operations.has(operation)) return "nothing is reduced";
      if (kind == doubled_contribution && is_idempotent(op))
        return "reducing a value with itself gives that value";
      if (kind == wrong_op && ranks == 1) return "on one rank every operation gives its input";
      return std::nullopt;
    case wrong_root:
      if (!received_by_root.has(operation) && !sent_by_root.has(operation))
        return "there is no root";
      if (ranks == 1) return "one rank is always the root";
      return std::nullopt;
    case reduced_precision:
      if (is_integer(type)) return "integers have one precision";
      return std::nullopt;
    case missing_contribution:
      if (operation == OperationId::transfer) return "a message is its sender's alone";
      return std::nullopt;
    default: return std::nullopt;
  }
}

}  // namespace ccl_tests
