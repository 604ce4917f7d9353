// What is done with the list of fields: records become values, values that were read become records.
#pragma once

#include <algorithm>
#include <concepts>
#include <string_view>
#include <type_traits>

#include "src/record/field_value.hpp"
#include "src/record/fields.hpp"

namespace ccl_tests {

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
