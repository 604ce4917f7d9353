#include "src/inject/fault.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <set>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"

namespace ccl_tests {
namespace {

using enum FaultKind;

struct Words {
  std::string_view name, about;
};
// By FaultKind.
constexpr std::array<Words, 23> fault_words = {{
    {"flipped-bit", "one bit of one element of the result differs"},
    {"flipped-sign", "one element of the result has the other sign"},
    {"swapped-blocks", "two blocks of the result have changed places"},
    {"shifted-block", "the result is one element farther back"},
    {"stale-result", "the result is that of the call before"},
    {"missing-contribution", "one rank's data are not in the results"},
    {"doubled-contribution", "one rank's data are reduced twice"},
    {"wrong-op", "the library reduces with another operation"},
    {"wrong-root", "the library takes the next rank for the root"},
    {"truncated-tail", "the last element of the result is not written"},
    {"written-behind", "an element past the end of the receive buffer is written"},
    {"written-before", "an element before the start of the receive buffer is written"},
    {"changed-input", "one bit of the send buffer differs"},
    {"reduced-precision", "the result lacks its last bits of precision"},
    {"zeroed-result", "the result is zero"},
    {"rounded-toward-zero", "one element is rounded toward zero"},
    {"one-ulp", "one element is one unit in the last place away"},
    {"flushed-subnormals", "one element is computed with 0 for subnormal numbers"},
    {"saturated", "one element is the largest number instead of infinity"},
    {"double-rounded", "one element is rounded to a narrower type"},
    {"integer-order", "one element of min or max is that of comparing bits as integers"},
    {"skipped-assignment", "one element is the rank's own input"},
    {"ignored-nan", "one element is computed without the NaNs among the inputs"},
}};
constexpr auto kinds = all_values<FaultKind, fault_words.size()>();

constexpr std::string_view accepted =
    "KIND[:rank=R|all][:at=SIZE][:call=N][:every=N][:phase=untimed|timed]";

std::size_t number(std::string_view key, std::string_view text, std::size_t least) {
  std::size_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(end, static_cast<std::size_t>(text.data() + text.size() - end));
  const std::size_t power = std::string_view("KMG").find(unit);
  const bool scaled = key == "at" && unit.size() == 1 && power != std::string_view::npos;
  if (error != std::errc() || value < least || (!unit.empty() && !scaled))
    throw UsageError(fmt::format("{}={}; accepted: a number from {} on", key, quote(text), least));
  const std::size_t shift = scaled ? 10 * (power + 1) : 0;
  if (value > std::numeric_limits<std::size_t>::max() >> shift)
    throw UsageError(fmt::format("{}={} is too large; accepted: bytes", key, quote(text)));
  return value << shift;
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

// Bits of a type's significand that are lost: double as float, float as half, half as bfloat16, and so on.
std::size_t lost_bits(DataType type) {
  switch (type) {
    case DataType::float64: return 29;
    case DataType::float32: return 13;
    case DataType::half: return 3;
    case DataType::bfloat16: return 4;
    case DataType::f8e4m3:
    case DataType::f8e5m2: return 1;
    default: return 0;
  }
}

void reduce_precision(std::span<std::byte> bytes, DataType type) {
  const std::size_t width = size_of(type);
  const std::uint64_t mask = ~((std::uint64_t{1} << lost_bits(type)) - 1);
  for (std::size_t at = 0; at + width <= bytes.size(); at += width) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, bytes.data() + at, width);  // little endian
    bits &= mask;
    std::memcpy(bytes.data() + at, &bits, width);
  }
}

// Returns the value that leaves every other as it is under `op`.
template <class T>
T neutral(ReduceOp op) {
  if constexpr (is_float<T>) {
    const FloatFormat f = float_format<T>();
    // The largest significand of f8e4m3 is NaN's.
    const double largest =
        f.significand == 4 ? 448 : std::ldexp(2 - std::ldexp(1, 1 - f.significand), f.max_exponent);
    if (op == ReduceOp::max) return from_double<T>(-largest);
    if (op == ReduceOp::min) return from_double<T>(largest);
    return from_double<T>(op == ReduceOp::prod ? 1 : 0);
  } else {
    if (op == ReduceOp::max) return std::numeric_limits<T>::min();
    if (op == ReduceOp::min) return std::numeric_limits<T>::max();
    if (op == ReduceOp::band) return static_cast<T>(~T{0});
    return op == ReduceOp::prod ? 1 : 0;
  }
}

std::optional<std::string> why_not_computed(FaultKind kind, OperationId operation, DataType type,
                                            ReduceOp op, int ranks) {
  const bool extreme = op == ReduceOp::min || op == ReduceOp::max;
  if (!reducing_operations.has(operation)) return "nothing is reduced";
  if (!is_floating_point(type)) return "integers are neither rounded nor NaN";
  if (ranks == 1) return "one rank computes nothing";
  if (kind == integer_order && !extreme) return "only min and max compare";
  if (extreme && (kind == rounded_toward_zero || kind == saturated || kind == double_rounded))
    return "min and max do not round";
  if (kind == saturated && size_of(type) == 1) return "types of 8 bits may saturate";
  if (kind == double_rounded && type == DataType::f8e5m2) return "no type is narrower";
  if (kind == ignored_nan && extreme && operation != OperationId::all_reduce)
    return "min and max may ignore NaN, if all ranks that receive the result do";
  return std::nullopt;
}

}  // namespace

std::span<const FaultKind> all_faults() { return kinds; }
std::vector<std::string> fault_names() {
  std::vector<std::string> names;
  for (const Words& of_kind : fault_words) names.emplace_back(of_kind.name);
  return names;
}
std::string_view name(FaultKind kind) {
  return fault_words.at(static_cast<std::size_t>(kind)).name;
}
std::string_view about(FaultKind kind) {
  return fault_words.at(static_cast<std::size_t>(kind)).about;
}

Fault parse_fault(std::string_view text) {
  const auto next = [&] {
    const std::size_t end = std::min(text.find(':'), text.size());
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return part;
  };
  const std::string_view kind = next();
  const auto found = std::find_if(kinds.begin(), kinds.end(),
                                  [&](FaultKind known) { return name(known) == kind; });
  if (found == kinds.end()) throw UsageError(unknown_name("kind", kind, fault_names()));
  Fault fault;
  fault.kind = *found;
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

void require_rank(const Fault& fault, int ranks) {
  if (fault.rank >= ranks)
    throw UsageError(
        fmt::format("--inject: there is no rank {}; accepted: up to {}", fault.rank, ranks - 1));
}

bool is_collective(FaultKind kind) { return kind == wrong_op || kind == wrong_root; }
bool is_of_arithmetic(FaultKind kind) { return kind >= rounded_toward_zero; }

std::optional<std::string> why_harmless(FaultKind kind, OperationId operation, DataType type,
                                        ReduceOp op, int ranks) {
  if (operation == OperationId::barrier) return "a barrier moves no data";
  if (is_of_arithmetic(kind)) return why_not_computed(kind, operation, type, op, ranks);
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
      if (!is_floating_point(type)) return "integers have one precision";
      return std::nullopt;
    case missing_contribution:
      if (operation == OperationId::transfer) return "a message is its sender's alone";
      return std::nullopt;
    default: return std::nullopt;
  }
}

bool spoil_result(FaultKind kind, const SpoiledResult& r) {
  const std::size_t width = size_of(r.type);
  const std::vector<std::byte> right(r.bytes.begin(), r.bytes.end());
  const std::span<std::byte> bytes = r.bytes;
  if (bytes.empty()) return false;
  const std::size_t element = std::min(r.element, bytes.size() / width - 1) * width;
  switch (kind) {
    case FaultKind::flipped_bit: bytes[element + r.bit / 8] ^= std::byte{1} << (r.bit % 8); break;
    case FaultKind::flipped_sign: bytes[element + width - 1] ^= std::byte{0x80}; break;
    case FaultKind::swapped_blocks:
      if (r.block > 0 && 2 * r.block <= bytes.size())
        std::swap_ranges(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(r.block),
                         bytes.begin() + static_cast<std::ptrdiff_t>(r.block));
      break;
    case FaultKind::shifted_block:
      if (bytes.size() > width)
        std::memmove(bytes.data() + width, bytes.data(), bytes.size() - width);
      break;
    case FaultKind::stale_result:
      if (r.stale.size() == bytes.size()) std::copy(r.stale.begin(), r.stale.end(), bytes.begin());
      break;
    case FaultKind::truncated_tail:
      std::copy(r.before.end() - static_cast<std::ptrdiff_t>(width), r.before.end(),
                bytes.end() - static_cast<std::ptrdiff_t>(width));
      break;
    case FaultKind::reduced_precision: reduce_precision(bytes, r.type); break;
    case FaultKind::zeroed_result: std::fill(bytes.begin(), bytes.end(), std::byte{0}); break;
    default: break;
  }
  return !std::equal(right.begin(), right.end(), bytes.begin());
}

void write_nothing(std::span<std::byte> input, DataType type, std::optional<ReduceOp> op) {
  std::fill(input.begin(), input.end(), std::byte{0});
  if (!op) return;
  with_type(type, [&]<class T>() {
    const T value = neutral<T>(*op);
    for (std::size_t at = 0; at + sizeof(T) <= input.size(); at += sizeof(T))
      std::memcpy(input.data() + at, &value, sizeof(T));
  });
}

}  // namespace ccl_tests
