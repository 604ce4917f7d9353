#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "tools/acceptance/report/writers.hpp"

namespace ccl_tests::acceptance {
namespace {

constexpr int verdict_schema = 1;

using Json = nlohmann::ordered_json;
using Texts = std::map<std::string, std::string>;

// The one list of what the file holds, for writing and for reading. Calls visit(key, member) in the order of the keys,
// and visit.derived() for what follows from other members and is not read.
template <class T, class V>
void fields(T& it, V&& visit) {
  using Type = std::remove_const_t<T>;
  if constexpr (std::same_as<Type, Host>) {
    visit("name", it.name);
    visit("ranks", it.ranks);
    visit("facts", it.facts);
  } else if constexpr (std::same_as<Type, Stage>) {
    visit("name", it.name);
    visit("verdict", it.verdict);
    visit("text", it.text);
    visit("begin_s", it.begin_s);
    visit("end_s", it.end_s);
  } else if constexpr (std::same_as<Type, Number>) {
    visit("name", it.name);
    visit("value", it.value);
    visit("unit", it.unit);
  } else if constexpr (std::same_as<Type, Check>) {
    visit("id", it.id);
    visit("stage", it.stage);
    visit("subject", it.subject);
    visit("verdict", it.verdict);
    visit("reason", it.reason);
    visit("text", it.text);
    visit("numbers", it.numbers);
    visit("begin_s", it.begin_s);
    visit("end_s", it.end_s);
  } else if constexpr (std::same_as<Type, PairMatrix>) {
    visit("size_bytes", it.bytes);
    visit("rail", it.rail);
    visit("time_s", it.seconds);
  } else if constexpr (std::same_as<Type, CurvePoint>) {
    visit("size_bytes", it.bytes);
    visit("busbw_bytes_per_s", it.busbw);
    visit("low_bytes_per_s", it.low);
    visit("high_bytes_per_s", it.high);
    visit("limit_bytes_per_s", it.limit);
  } else if constexpr (std::same_as<Type, Curve>) {
    visit("stage", it.stage);
    visit("program", it.program);
    visit("datatype", it.type);
    visit("ranks", it.ranks);
    visit("points", it.points);
  } else if constexpr (std::same_as<Type, NextStep>) {
    visit("what", it.what);
    visit("command", it.command);
  } else if constexpr (std::same_as<Type, Record>) {
    visit("verdict", it.verdict);
    visit("reason", it.reason);
    visit.derived("relative", it, is_relative);
    visit.derived("headline", it, headline);
    visit.derived("next", it, next_step);
    visit.derived("containment", it, containment_text);
    visit("complete", it.complete);
    visit("plan", it.plan);
    visit("plan_digest", it.plan_digest);
    visit("version", it.version);
    visit("backend", it.backend);
    visit("library", it.library);
    visit("launcher", it.launcher);
    visit("command", it.command);
    visit("seed", it.seed);
    visit("begin_s", it.begin_s);
    visit("end_s", it.end_s);
    visit("excluded", it.excluded);
    visit("hosts", it.hosts);
    visit("stages", it.stages);
    visit("checks", it.checks);
    visit("pairs", it.pairs);
    visit("curves", it.curves);
  }
}

// ---- Writing.
template <class T>
Json json_of(const T& member);

struct Writer {
  Json json = Json::object();

  template <class T>
  void operator()(const char* key, const T& member) {
    json[key] = json_of(member);
  }
  template <class Function>
  void derived(const char* key, const Record& record, Function value) {
    json[key] = json_of(value(record));
  }
};

template <class T>
Json json_of(const T& member) {
  if constexpr (std::same_as<T, double>) {
    return std::isfinite(member) ? Json(member) : Json(nullptr);
  } else if constexpr (std::is_arithmetic_v<T>) {
    return member;
  } else if constexpr (std::same_as<T, std::string>) {
    return valid_utf8(member);
  } else if constexpr (std::same_as<T, Verdict>) {
    return name(member);
  } else if constexpr (std::same_as<T, Texts>) {
    Json texts = Json::object();
    for (const auto& [key, text] : member) texts[valid_utf8(key)] = valid_utf8(text);
    return texts;
  } else if constexpr (requires { typename T::value_type; }) {
    Json list = Json::array();
    for (const auto& element : member) list.push_back(json_of(element));
    return list;
  } else {
    Writer writer;
    fields(member, writer);
    return writer.json;
  }
}

// ---- Reading.
[[noreturn]] void refuse(const std::string& path, std::string_view why) {
  throw Error(
      fmt::format("not a verdict of ccl_acceptance: {} {}", path.empty() ? "the file" : path, why));
}

// A value of the file with the way to it, "checks[3].verdict", for messages.
class Value {
 public:
  Value(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

  Value operator[](const std::string& key) const {
    need(json_.is_object(), "is not an object");
    const std::string path = path_.empty() ? key : path_ + "." + key;
    const auto found = json_.find(key);
    if (found == json_.end()) refuse(path, "is missing");
    return {*found, path};
  }
  void need(bool kept, std::string_view why) const {
    if (!kept) refuse(path_, why);
  }
  std::vector<Value> elements() const {
    need(json_.is_array(), "is not a list");
    std::vector<Value> all;
    for (std::size_t i = 0; i < json_.size(); ++i)
      all.emplace_back(json_[i], fmt::format("{}[{}]", path_, i));
    return all;
  }

  void read(std::string& text) const {
    need(json_.is_string(), "is not a text");
    text = json_.get<std::string>();
  }
  void read(bool& truth) const {
    need(json_.is_boolean(), "is not true or false");
    truth = json_.get<bool>();
  }
  void read(double& number) const {
    need(json_.is_null() || json_.is_number(), "is not a number or null");
    number = json_.is_null() ? std::numeric_limits<double>::quiet_NaN() : json_.get<double>();
  }
  template <std::integral T>
  void read(T& count) const {
    constexpr T most = std::numeric_limits<T>::max();
    need(json_.is_number_unsigned() && std::in_range<T>(json_.get<unsigned long long>()),
         fmt::format("is not a whole number from 0 to {}", most));
    count = json_.get<T>();
  }
  void read(Verdict& verdict) const {
    std::string text;
    read(text);
    const auto found = std::ranges::find(verdict_names, text);
    verdict = static_cast<Verdict>(found - verdict_names.begin());
    if (found != verdict_names.end()) return;
    refuse(path_,
           fmt::format("is {}; accepted: PASS, WARN, FAIL, INCONCLUSIVE, SKIPPED", quote(text)));
  }
  void read(Texts& texts) const {
    need(json_.is_object(), "is not an object");
    for (const auto& [key, value] : json_.items())
      Value(value, path_ + "." + quote(key)).read(texts[key]);
  }
  template <class T>
  void read(std::vector<T>& members) const {
    for (const Value& element : elements()) element.read(members.emplace_back());
  }
  template <class T>
  void read(T& member) const;

 private:
  const Json& json_;
  std::string path_;
};

struct Reader {
  const Value& value;

  template <class T>
  void operator()(const char* key, T& member) const {
    value[key].read(member);
  }
  template <class Function>
  void derived(const char* /*key*/, const Record& /*record*/, Function /*value*/) const {}
};

template <class T>
void Value::read(T& member) const {
  fields(member, Reader{*this});
}

// Refuses a matrix that lacks the time from a host to another.
void check_times(const Value& times, std::size_t hosts) {
  const std::vector<Value> rows = times.elements();
  for (const Value& row : rows) {
    const std::size_t found = row.elements().size();
    row.need(found == hosts, fmt::format("has {} times for {} hosts", found, hosts));
  }
  times.need(rows.size() == hosts, fmt::format("has {} rows for {} hosts", rows.size(), hosts));
}

}  // namespace

std::string verdict_json(const Record& record) {
  Writer writer;
  writer("tool", std::string("ccl_acceptance"));
  writer("schema_version", verdict_schema);
  fields(record, writer);
  std::string text;
  for (const auto& [key, value] : writer.json.items()) {
    text += (text.empty() ? "{\n " : ",\n ") + Json(key).dump() + ": ";
    if (!value.is_array() || value.empty()) {
      text += value.dump();
      continue;
    }
    std::string elements;
    for (const Json& element : value)
      elements += (elements.empty() ? "" : ",\n  ") + element.dump();
    text += "[\n  " + elements + "\n ]";
  }
  return text + "\n}\n";
}

Record read_verdict(std::string_view text) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& e) {
    refuse({}, fmt::format("is not JSON from byte {} on", e.byte));
  } catch (const Json::exception&) {
    refuse({}, "has a number that is too large");
  }
  const Value value(json, {});
  std::string tool;
  int schema = 0;
  value["tool"].read(tool);
  value["tool"].need(tool == "ccl_acceptance", "is not \"ccl_acceptance\"");
  value["schema_version"].read(schema);
  value["schema_version"].need(schema == verdict_schema,
                               fmt::format("is {}; this program reads {}", schema, verdict_schema));
  Record record;
  value.read(record);
  for (const Value& matrix : value["pairs"].elements())
    check_times(matrix["time_s"], record.hosts.size());
  return record;
}

}  // namespace ccl_tests::acceptance
