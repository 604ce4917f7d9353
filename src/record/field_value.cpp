#include "src/record/field_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <variant>

namespace ccl_tests {
namespace {

constexpr std::array<std::string_view, 4> note_kinds = {"warning", "note", "listing", "verbose"};
constexpr std::array<std::string_view, 6> verdicts = {"ok",     "unreliable", "slow",
                                                      "varies", "wrong",      "incomplete"};
constexpr std::array<std::string_view, 3> limit_verdicts = {"kept", "undecided", "missed"};
constexpr std::array<std::string_view, 3> reproducibilities = {"order-independent", "stable",
                                                               "varies"};

template <class Names>
FieldValue named(const Names& names, auto value) {
  return std::string(names.at(static_cast<std::size_t>(value)));
}

const std::string& own_text(const FieldValue& value) {
  if (!value.is_string()) throw Error("not a text");
  return value.get_ref<const std::string&>();
}

template <class Names, class T>
void assign_named(const Names& names, const FieldValue& value, T& to) {
  const auto found = std::find(names.begin(), names.end(), own_text(value));
  if (found == names.end()) throw Error(fmt::format("'{}' is not known", own_text(value)));
  to = static_cast<T>(found - names.begin());
}

SettingValue setting_of(const FieldValue& value) {
  if (value.is_boolean()) return value.get<bool>();
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_float()) return value.get<double>();
  if (value.is_number()) return value.get<std::int64_t>();
  if (value.is_null()) return {};
  throw Error("a setting is neither a number, a text nor a truth value");
}

}  // namespace

std::string_view name(Reproducibility found) {
  return reproducibilities.at(static_cast<std::size_t>(found));
}

const FieldValue* find(const FieldRecord& record, std::string_view name) {
  const auto found = record.find(std::string(name));
  return found == record.end() ? nullptr : &*found;
}

FieldValue value_of(double number) {
  return std::isfinite(number) ? FieldValue(number) : FieldValue();
}
FieldValue value_of(const std::string& text) {
  return text.empty() ? FieldValue() : FieldValue(text);
}
FieldValue value_of(DataType type) { return std::string(name(type)); }
FieldValue value_of(ReduceOp op) { return std::string(name(op)); }
FieldValue value_of(const RankPair& pair) { return name(pair); }
FieldValue value_of(NoteKind kind) { return named(note_kinds, kind); }
FieldValue value_of(Verdict verdict) { return named(verdicts, verdict); }
FieldValue value_of(LimitVerdict verdict) { return named(limit_verdicts, verdict); }
FieldValue value_of(Reproducibility found) { return named(reproducibilities, found); }

FieldValue value_of(const std::vector<Setting>& settings) {
  if (settings.empty()) return {};
  FieldRecord record;
  const auto to_field = []<class T>(const T& v) {
    if constexpr (std::is_same_v<T, std::monostate>)
      return FieldValue();
    else
      return value_of(v);
  };
  for (const auto& [name, value] : settings) record[name] = std::visit(to_field, value);
  return record;
}

void assign(const FieldValue& value, bool& to) {
  if (!value.is_boolean()) throw Error("neither true nor false");
  to = value.get<bool>();
}

void assign(const FieldValue& value, double& to) {
  if (!value.is_null() && !value.is_number()) throw Error("not a number");
  to = value.is_null() ? std::numeric_limits<double>::quiet_NaN() : value.get<double>();
}

void assign(const FieldValue& value, std::string& to) {
  to = value.is_null() ? std::string() : own_text(value);
}

void assign(const FieldValue& value, DataType& to) {
  const auto type = parse_type(own_text(value));
  if (!type) throw Error(fmt::format("'{}' is not a type", own_text(value)));
  to = *type;
}

void assign(const FieldValue& value, ReduceOp& to) {
  const auto op = parse_op(own_text(value));
  if (!op) throw Error(fmt::format("'{}' is not an operation", own_text(value)));
  to = *op;
}

void assign(const FieldValue& value, RankPair& to) {
  const std::string& text = own_text(value);
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, to.first);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == ':') {
    const auto second = std::from_chars(first.ptr + 1, end, to.second);
    if (second.ec == std::errc() && second.ptr == end) return;
  }
  throw Error(fmt::format("'{}' is not a pair of ranks", text));
}

void assign(const FieldValue& value, NoteKind& to) { assign_named(note_kinds, value, to); }
void assign(const FieldValue& value, Verdict& to) { assign_named(verdicts, value, to); }
void assign(const FieldValue& value, LimitVerdict& to) { assign_named(limit_verdicts, value, to); }
void assign(const FieldValue& value, Reproducibility& to) {
  assign_named(reproducibilities, value, to);
}

void assign(const FieldValue& value, std::vector<Setting>& to) {
  to.clear();
  if (value.is_null()) return;
  if (!value.is_object()) throw Error("not an object");
  for (const auto& [name, setting] : value.items()) to.push_back({name, setting_of(setting)});
}

std::string json_object(const FieldRecord& record) {
  return record.dump(-1, ' ', false, FieldValue::error_handler_t::replace);
}

FieldRecord parse_json_object(std::string_view text) {
  try {
    FieldRecord record = FieldRecord::parse(text);
    if (!record.is_object()) throw Error("not a JSON object");
    return record;
  } catch (const nlohmann::json::parse_error& e) {
    throw Error(fmt::format("no JSON object on this line (byte {})", e.byte));
  } catch (const nlohmann::json::exception&) {
    throw Error("a number or text that JSON does not have");
  }
}

}  // namespace ccl_tests
