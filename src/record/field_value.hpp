// Values of fields as JSON: records become values, values that were read become records.
#pragma once

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "src/core/error.hpp"
#include "src/record/fields.hpp"

namespace ccl_tests {

// Null stands for what is absent, not known or not finite.
using FieldValue = nlohmann::ordered_json;
// An object, whose members are in the order in which they were added.
using FieldRecord = FieldValue;

// Returns the value of that field; nullptr: there is none.
const FieldValue* find(const FieldRecord& record, std::string_view name);

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
FieldValue value_of(std::integral auto number) { return number; }
template <class T>
FieldValue value_of(const std::vector<T>& list) {
  return list;
}
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
template <std::integral T>
void assign(const FieldValue& value, T& to) {
  if (!value.is_number_integer()) throw Error("not an integer");
  const bool fits = value.is_number_unsigned() ? std::in_range<T>(value.get<std::uint64_t>())
                                               : std::in_range<T>(value.get<std::int64_t>());
  if (!fits) throw Error("a number is out of range");
  to = value.get<T>();
}
template <class T>
void assign(const FieldValue& value, std::optional<T>& to) {
  to.reset();
  if (!value.is_null()) assign(value, to.emplace());
}
template <class T>
void assign(const FieldValue& value, std::vector<T>& to) {
  to.clear();
  if (value.is_null()) return;
  if (!value.is_array()) throw Error("not a list");
  for (const FieldValue& element : value) assign(element, to.emplace_back());
}

// Returns the object on one line. Bytes that are not UTF-8 become U+FFFD.
std::string json_object(const FieldRecord& record);

// Throws Error if `text` is not a JSON object.
FieldRecord parse_json_object(std::string_view text);

// Appends the values of a record. A part that is absent has all its names, with null.
class Collect {
 public:
  explicit Collect(FieldRecord& values) : values_(values) {}

  template <class T>
  void operator()(std::string_view name, const T& member) {
    values_[std::string(name)] = absent_ ? FieldValue() : value_of(member);
  }
  template <class T, class Each>
  void part(const std::optional<T>& part, Each each) {
    absent_ = !part;
    const T value = part.value_or(T());
    each(value);
    absent_ = false;
  }
  template <class T>
  void list(std::string_view name, const std::vector<T>& members) {
    FieldValue records = FieldValue::array();
    for (const T& member : members) fields(member, Collect(records.emplace_back()));
    values_[std::string(name)] = std::move(records);
  }
  void derived(std::string_view name, const auto& value) { (*this)(name, value); }

 private:
  FieldRecord& values_;
  bool absent_ = false;
};

// Sets the members of a record whose names are among the values. Throws Error that names the field.
class Assign {
 public:
  explicit Assign(const FieldRecord& values) : values_(values) {}

  template <class T>
  void operator()(std::string_view name, T& member) {
    const FieldValue* const value = find(values_, name);
    if (value == nullptr) return;
    const bool null = value->is_null();
    any_ = any_ || !null;
    if (null && in_part_ && (std::integral<T> || std::is_enum_v<T>)) return;
    try {
      assign(*value, member);
    } catch (const Error& e) {
      throw Error(std::string(name) + ": " + e.what());
    }
  }
  template <class T, class Each>
  void part(std::optional<T>& part, Each each) {
    any_ = false;
    in_part_ = true;
    T value;
    each(value);
    in_part_ = false;
    if (any_) part = std::move(value);
  }
  template <class T>
  void list(std::string_view name, std::vector<T>& members) {
    const FieldValue* const value = find(values_, name);
    if (value == nullptr || !value->is_array()) return;
    for (const FieldRecord& record : *value)
      if (record.is_object()) fields(members.emplace_back(), Assign(record));
  }
  void derived(std::string_view /*name*/, const auto& /*value*/) {}

 private:
  const FieldRecord& values_;
  bool in_part_ = false;
  bool any_ = false;  // value of the part is not null
};

}  // namespace ccl_tests
