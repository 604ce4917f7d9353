#include "tools/acceptance/report/verdict_json.hpp"

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/report/text.hpp"
#include "tools/acceptance/report/headline.hpp"

namespace ccl_tests::acceptance {
namespace {

using Json = nlohmann::ordered_json;
using Texts = std::map<std::string, std::string>;

template <class T, class Part>
concept Is = std::same_as<std::remove_const_t<T>, Part>;

// The one list of what the file holds, for writing and for reading. visit(key, member) is called in
// the order of the keys, visit.newer() for a key that older files do not have, and visit.derived()
// for what follows from other members and is not read.
template <Is<Host> H, class V>
void fields(H& host, V&& visit) {
  visit("name", host.name);
  visit("ranks", host.ranks);
  visit("facts", host.facts);
}

template <Is<Stage> S, class V>
void fields(S& stage, V&& visit) {
  visit("name", stage.name);
  visit("verdict", stage.verdict);
  visit("text", stage.text);
  visit("begin_s", stage.begin_s);
  visit("end_s", stage.end_s);
}

template <Is<Number> N, class V>
void fields(N& number, V&& visit) {
  visit("name", number.name);
  visit("value", number.value);
  visit("unit", number.unit);
}

template <Is<Check> C, class V>
void fields(C& check, V&& visit) {
  visit("id", check.id);
  visit("stage", check.stage);
  visit("subject", check.subject);
  visit("verdict", check.verdict);
  visit("reason", check.reason);
  visit("text", check.text);
  visit("numbers", check.numbers);
  visit("begin_s", check.begin_s);
  visit("end_s", check.end_s);
}

template <Is<PairMatrix> M, class V>
void fields(M& matrix, V&& visit, std::size_t hosts) {
  visit("size_bytes", matrix.bytes);
  visit.newer("rail", matrix.rail);
  visit.rows("time_s", matrix.seconds, hosts);
}

template <Is<CurvePoint> P, class V>
void fields(P& point, V&& visit) {
  visit("size_bytes", point.bytes);
  visit("busbw_bytes_per_s", point.busbw);
  visit("low_bytes_per_s", point.low);
  visit("high_bytes_per_s", point.high);
  visit("limit_bytes_per_s", point.limit);
}

template <Is<Curve> C, class V>
void fields(C& curve, V&& visit) {
  visit("stage", curve.stage);
  visit("program", curve.program);
  visit("datatype", curve.type);
  visit("ranks", curve.ranks);
  visit("points", curve.points);
}

template <Is<NextStep> N, class V>
void fields(N& next, V&& visit) {
  visit("what", next.what);
  visit("command", next.command);
}

template <Is<Record> R, class V>
void fields(R& record, V&& visit) {
  visit("verdict", record.verdict);
  visit("reason", record.reason);
  visit.derived("relative", record, is_relative);
  visit("headline", record.headline);
  visit.derived("next", record, next_step);
  visit.derived("containment", record, containment_text);
  visit("complete", record.complete);
  visit("plan", record.plan);
  visit.newer("plan_digest", record.plan_digest);
  visit("version", record.version);
  visit("backend", record.backend);
  visit("library", record.library);
  visit("launcher", record.launcher);
  visit("command", record.command);
  visit("seed", record.seed);
  visit("begin_s", record.begin_s);
  visit("end_s", record.end_s);
  visit("excluded", record.excluded);
  visit("hosts", record.hosts);
  visit("stages", record.stages);
  visit("checks", record.checks);
  visit("pairs", record.pairs, record.hosts.size());
  visit("curves", record.curves);
}

template <class T>
constexpr bool is_vector = false;
template <class T>
constexpr bool is_vector<std::vector<T>> = true;

// ---- Writing. `more` is what fields() needs besides the member.
template <class T, class... More>
Json json_of(const T& member, More... more);

struct Writer {
  Json json = Json::object();

  template <class T, class... More>
  void operator()(const char* key, const T& member, More... more) {
    json[key] = json_of(member, more...);
  }
  template <class T>
  void newer(const char* key, const T& member) {
    (*this)(key, member);
  }
  template <class Function>
  void derived(const char* key, const Record& record, Function value) {
    (*this)(key, value(record));
  }
  // The last row is short if the matrix is not square.
  void rows(const char* key, const std::vector<double>& numbers, std::size_t columns) {
    Json rows = Json::array();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      if (columns == 0 || i % columns == 0) rows.push_back(Json::array());
      rows.back().push_back(json_of(numbers[i]));
    }
    json[key] = rows;
  }
};

template <class T, class... More>
Json json_of(const T& member, More... more) {
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
  } else if constexpr (is_vector<T>) {
    Json list = Json::array();
    for (const auto& element : member) list.push_back(json_of(element, more...));
    return list;
  } else {
    Writer writer;
    fields(member, writer, more...);
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
  bool has(const std::string& key) const { return json_.contains(key); }
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
    for (const Verdict one :
         {Verdict::skipped, Verdict::pass, Verdict::warn, Verdict::inconclusive, Verdict::fail}) {
      verdict = one;
      if (text == name(one)) return;
    }
    refuse(path_,
           fmt::format("is {}; accepted: PASS, WARN, FAIL, INCONCLUSIVE, SKIPPED", quote(text)));
  }
  void read(Texts& texts) const {
    need(json_.is_object(), "is not an object");
    for (const auto& [key, value] : json_.items())
      Value(value, path_ + "." + quote(key)).read(texts[key]);
  }
  template <class T, class... More>
  void read(std::vector<T>& members, More... more) const {
    for (const Value& element : elements()) element.read(members.emplace_back(), more...);
  }
  template <class T, class... More>
  void read(T& member, More... more) const;

 private:
  const Json& json_;
  std::string path_;
};

struct Reader {
  const Value& value;

  template <class T, class... More>
  void operator()(const char* key, T& member, More... more) const {
    value[key].read(member, more...);
  }
  template <class T>
  void newer(const char* key, T& member) const {
    if (value.has(key)) value[key].read(member);
  }
  template <class Function>
  void derived(const char* /*key*/, const Record& /*record*/, Function /*value*/) const {}
  void rows(const char* key, std::vector<double>& numbers, std::size_t columns) const {
    const Value times = value[key];
    const std::vector<Value> rows = times.elements();
    for (const Value& row : rows) {
      std::vector<double> found;
      row.read(found);
      row.need(found.size() == columns,
               fmt::format("has {} times for {} hosts", found.size(), columns));
      numbers.insert(numbers.end(), found.begin(), found.end());
    }
    times.need(rows.size() == columns,
               fmt::format("has {} rows for {} hosts", rows.size(), columns));
  }
};

template <class T, class... More>
void Value::read(T& member, More... more) const {
  fields(member, Reader{*this}, more...);
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
  return record;
}

}  // namespace ccl_tests::acceptance
