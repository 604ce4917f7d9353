#include "src/record/field_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

namespace ccl_tests {
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
