// Values of fields, and objects of them as JSON.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "src/core/error.hpp"
#include "src/record/record.hpp"

namespace ccl_tests {

struct Field;
using FieldRecord = std::vector<Field>;

// std::monostate: null, which stands for what is absent, not known or not finite.
using FieldValue = std::variant<std::monostate, bool, std::int64_t, std::uint64_t, double,
                                std::string, std::vector<std::uint64_t>, std::vector<double>,
                                std::vector<std::string>, FieldRecord, std::vector<FieldRecord>>;

struct Field {
  std::string name;
  FieldValue value;
  bool operator==(const Field&) const = default;
};

// Returns the value of that field; nullptr: there is none.
template <class Record>  // FieldRecord, const or not
auto find(Record& record, std::string_view name) -> decltype(&record.front().value) {
  for (auto& field : record)
    if (field.name == name) return &field.value;
  return nullptr;
}

// Returns null for an empty text and for a number that is not finite.
FieldValue value_of(double number);
FieldValue value_of(const std::string& text);
FieldValue value_of(DataType type);
FieldValue value_of(ReduceOp op);
FieldValue value_of(const RankPair& pair);
FieldValue value_of(NoteKind kind);
FieldValue value_of(Verdict verdict);
FieldValue value_of(LimitVerdict verdict);
FieldValue value_of(Reproducibility found);
FieldValue value_of(const std::vector<Setting>& settings);
inline FieldValue value_of(std::monostate /*null*/) { return {}; }
inline FieldValue value_of(bool flag) { return flag; }
FieldValue value_of(std::integral auto number) {
  if constexpr (std::signed_integral<decltype(number)>)
    return std::int64_t{number};
  else
    return std::uint64_t{number};
}
inline FieldValue value_of(const std::vector<double>& list) { return list; }
inline FieldValue value_of(const std::vector<std::uint64_t>& list) { return list; }
inline FieldValue value_of(const std::vector<std::string>& list) { return list; }
template <class T>
FieldValue value_of(const std::optional<T>& value) {
  return value ? value_of(*value) : FieldValue();
}

// Sets `to` from a value that was read. A null makes a text or list empty and a number not a
// number. Throws Error if the value has another type or is not known.
void assign(const FieldValue& value, bool& to);
void assign(const FieldValue& value, double& to);
void assign(const FieldValue& value, std::string& to);
void assign(const FieldValue& value, DataType& to);
void assign(const FieldValue& value, ReduceOp& to);
void assign(const FieldValue& value, RankPair& to);
void assign(const FieldValue& value, NoteKind& to);
void assign(const FieldValue& value, Verdict& to);
void assign(const FieldValue& value, LimitVerdict& to);
void assign(const FieldValue& value, Reproducibility& to);
void assign(const FieldValue& value, std::vector<Setting>& to);
void assign(const FieldValue& value, std::vector<double>& to);
void assign(const FieldValue& value, std::vector<std::uint64_t>& to);
void assign(const FieldValue& value, std::vector<std::string>& to);
template <std::integral T>
void assign(const FieldValue& value, T& to) {
  const auto set = [&](auto number) {
    if (!std::in_range<T>(number)) throw Error("a number is out of range");
    to = static_cast<T>(number);
  };
  if (const auto* number = std::get_if<std::int64_t>(&value))
    set(*number);
  else if (const auto* count = std::get_if<std::uint64_t>(&value))
    set(*count);
  else
    throw Error("not an integer");
}
template <class T>
void assign(const FieldValue& value, std::optional<T>& to) {
  to.reset();
  if (!std::holds_alternative<std::monostate>(value)) assign(value, to.emplace());
}

// Records as JSON objects.

// Returns the object on one line. Bytes that are not UTF-8 become U+FFFD.
std::string json_object(const FieldRecord& record);

// Throws Error if `text` is not a JSON object, or has a list of mixed values.
FieldRecord parse_json_object(std::string_view text);

}  // namespace ccl_tests
