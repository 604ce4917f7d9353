#include "src/record/field_value.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>

namespace ccl_tests {
namespace {

constexpr std::array<std::string_view, 4> note_kinds = {"warning", "note", "listing", "verbose"};
constexpr std::array<std::string_view, 6> verdicts = {"ok",     "unreliable", "slow",
                                                      "varies", "wrong",      "incomplete"};
constexpr std::array<std::string_view, 3> limit_verdicts = {"kept", "undecided", "missed"};
const std::array reproducibilities = {name(Reproducibility::order_independent),
                                      name(Reproducibility::stable), name(Reproducibility::varies)};

template <class Names>
FieldValue named(const Names& names, auto value) {
  return std::string(names.at(static_cast<std::size_t>(value)));
}

const std::string& own_text(const FieldValue& value) {
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  throw Error("not a text");
}

template <class Names, class T>
void assign_named(const Names& names, const FieldValue& value, T& to) {
  const std::string& text = own_text(value);
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] != text) continue;
    to = static_cast<T>(i);
    return;
  }
  throw Error(fmt::format("'{}' is not known", text));
}

bool is_null(const FieldValue& value) { return std::holds_alternative<std::monostate>(value); }

template <class T>
void assign_list(const FieldValue& value, std::vector<T>& to) {
  to.clear();
  if (is_null(value)) return;
  const auto* list = std::get_if<std::vector<T>>(&value);
  if (list == nullptr) throw Error("not a list of the right type");
  to = *list;
}

SettingValue setting_of(const FieldValue& value) {
  if (const auto* flag = std::get_if<bool>(&value)) return *flag;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* number = std::get_if<double>(&value)) return *number;
  if (const auto* whole = std::get_if<std::int64_t>(&value)) return *whole;
  if (const auto* count = std::get_if<std::uint64_t>(&value))
    return static_cast<std::int64_t>(*count);
  if (is_null(value)) return {};
  throw Error("a setting is neither a number, a text nor a truth value");
}

}  // namespace

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
FieldValue value_of(Reproducibility found) { return std::string(name(found)); }

FieldValue value_of(const std::vector<Setting>& settings) {
  if (settings.empty()) return {};
  FieldRecord record;
  for (const auto& [name, value] : settings)
    record.push_back({name, std::visit([](const auto& v) { return value_of(v); }, value)});
  return record;
}

void assign(const FieldValue& value, bool& to) {
  const auto* flag = std::get_if<bool>(&value);
  if (flag == nullptr) throw Error("neither true nor false");
  to = *flag;
}

void assign(const FieldValue& value, double& to) {
  if (is_null(value)) {
    to = std::numeric_limits<double>::quiet_NaN();
  } else if (const auto* number = std::get_if<double>(&value)) {
    to = *number;
  } else if (const auto* whole = std::get_if<std::int64_t>(&value)) {
    to = static_cast<double>(*whole);
  } else if (const auto* count = std::get_if<std::uint64_t>(&value)) {
    to = static_cast<double>(*count);
  } else {
    throw Error("not a number");
  }
}

void assign(const FieldValue& value, std::string& to) {
  to = is_null(value) ? std::string() : own_text(value);
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
  if (is_null(value)) return;
  const auto* const record = std::get_if<FieldRecord>(&value);
  if (record == nullptr) throw Error("not an object");
  for (const Field& field : *record) to.push_back({field.name, setting_of(field.value)});
}

void assign(const FieldValue& value, std::vector<std::string>& to) { assign_list(value, to); }
void assign(const FieldValue& value, std::vector<std::uint64_t>& to) { assign_list(value, to); }

void assign(const FieldValue& value, std::vector<double>& to) {
  if (const auto* whole = std::get_if<std::vector<std::uint64_t>>(&value)) {
    to.assign(whole->begin(), whole->end());
  } else {
    assign_list(value, to);
  }
}

namespace {

using Json = nlohmann::ordered_json;

Json json_of(const FieldRecord& record);

struct ToJson {
  Json operator()(std::monostate /*null*/) const { return nullptr; }
  Json operator()(const FieldRecord& record) const { return json_of(record); }
  Json operator()(const std::vector<FieldRecord>& records) const {
    Json list = Json::array();
    for (const FieldRecord& record : records) list.push_back(json_of(record));
    return list;
  }
  Json operator()(const auto& value) const { return value; }
};

Json json_of(const FieldRecord& record) {
  Json object = Json::object();
  for (const Field& field : record) object[field.name] = std::visit(ToJson(), field.value);
  return object;
}

FieldRecord record_of(const Json& object) {
  if (!object.is_object()) throw Error("not a JSON object");
  FieldRecord record;
  const auto list_of = [](const Json& list) -> FieldValue {
    const auto all = [&](auto is) { return std::all_of(list.begin(), list.end(), is); };
    if (all([](const Json& j) { return j.is_string(); }))
      return list.get<std::vector<std::string>>();
    if (all([](const Json& j) { return j.is_number_unsigned(); }))
      return list.get<std::vector<std::uint64_t>>();
    if (all([](const Json& j) { return j.is_object(); })) {
      std::vector<FieldRecord> records;
      for (const Json& json : list) records.push_back(record_of(json));
      return records;
    }
    std::vector<double> numbers;
    for (const Json& json : list) {
      if (!json.is_number() && !json.is_null()) throw Error("a list of mixed values");
      numbers.push_back(json.is_null() ? std::numeric_limits<double>::quiet_NaN()
                                       : json.get<double>());
    }
    return numbers;
  };
  for (const auto& [name, json] : object.items()) {
    FieldValue value;
    if (json.is_boolean())
      value = json.get<bool>();
    else if (json.is_number_unsigned())
      value = json.get<std::uint64_t>();
    else if (json.is_number_integer())
      value = json.get<std::int64_t>();
    else if (json.is_number())
      value = json.get<double>();
    else if (json.is_string())
      value = json.get<std::string>();
    else if (json.is_object())
      value = record_of(json);
    else if (json.is_array() && !json.empty())
      value = list_of(json);
    record.push_back({name, std::move(value)});
  }
  return record;
}

}  // namespace

std::string json_object(const FieldRecord& record) {
  return json_of(record).dump(-1, ' ', false, Json::error_handler_t::replace);
}

FieldRecord parse_json_object(std::string_view text) {
  try {
    return record_of(Json::parse(text));
  } catch (const nlohmann::json::parse_error& e) {
    throw Error(fmt::format("no JSON object on this line (byte {})", e.byte));
  } catch (const nlohmann::json::exception&) {
    throw Error("a number or text that JSON does not have");
  }
}

}  // namespace ccl_tests
