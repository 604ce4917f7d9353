#include <fmt/format.h>

#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "tools/acceptance/report/verdict_json.hpp"

namespace ccl_tests::acceptance {
namespace {

using Json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& path, std::string_view why) {
  throw Error(
      fmt::format("not a verdict of ccl_acceptance: {} {}", path.empty() ? "the file" : path, why));
}

// A value of the file with the way to it, "checks[3].verdict", for messages.
class Value {
 public:
  Value(const Json& json, std::string path) : json_(json), path_(std::move(path)) {}

  Value operator[](const std::string& key) const {
    if (!json_.is_object()) refuse(path_, "is not an object");
    const std::string path = path_.empty() ? key : path_ + "." + key;
    const auto found = json_.find(key);
    if (found == json_.end()) refuse(path, "is missing");
    return {*found, path};
  }

  bool has(const std::string& key) const { return json_.contains(key); }

  std::string text() const {
    if (!json_.is_string()) refuse(path_, "is not a text");
    return json_.get<std::string>();
  }

  bool truth() const {
    if (!json_.is_boolean()) refuse(path_, "is not true or false");
    return json_.get<bool>();
  }

  double number() const {
    if (json_.is_null()) return std::numeric_limits<double>::quiet_NaN();
    if (!json_.is_number()) refuse(path_, "is not a number or null");
    return json_.get<double>();
  }

  // Whole and not negative, up to the type's largest.
  template <class T>
  T count() const {
    if (!json_.is_number_unsigned() ||
        json_.get<unsigned long long>() >
            static_cast<unsigned long long>(std::numeric_limits<T>::max()))
      refuse(path_,
             fmt::format("is not a whole number from 0 to {}", std::numeric_limits<T>::max()));
    return static_cast<T>(json_.get<unsigned long long>());
  }

  Verdict verdict() const {
    const std::string text = this->text();
    for (const Verdict one :
         {Verdict::skipped, Verdict::pass, Verdict::warn, Verdict::inconclusive, Verdict::fail})
      if (text == name(one)) return one;
    refuse(path_,
           fmt::format("is {}; accepted: PASS, WARN, FAIL, INCONCLUSIVE, SKIPPED", quote(text)));
  }

  template <class Make>
  auto list(Make make) const {
    if (!json_.is_array()) refuse(path_, "is not a list");
    std::vector<std::invoke_result_t<Make, const Value&>> made;
    made.reserve(json_.size());
    for (std::size_t i = 0; i < json_.size(); ++i)
      made.push_back(make(Value(json_[i], fmt::format("{}[{}]", path_, i))));
    return made;
  }

  std::map<std::string, std::string> texts() const {
    if (!json_.is_object()) refuse(path_, "is not an object");
    std::map<std::string, std::string> made;
    for (const auto& [key, value] : json_.items())
      made[key] = Value(value, path_ + "." + quote(key)).text();
    return made;
  }

  const std::string& path() const { return path_; }

 private:
  const Json& json_;
  std::string path_;
};

std::string text_of(const Value& value) { return value.text(); }

Host host(const Value& value) {
  return {value["name"].text(), value["ranks"].list([](const Value& v) { return v.count<int>(); }),
          value["facts"].texts()};
}

Stage stage(const Value& value) {
  return {value["name"].text(), value["verdict"].verdict(), value["text"].text(),
          value["begin_s"].number(), value["end_s"].number()};
}

Number number(const Value& value) {
  return {value["name"].text(), value["value"].number(), value["unit"].text()};
}

Check check(const Value& value) {
  return {value["id"].text(),
          value["stage"].text(),
          value["subject"].text(),
          value["verdict"].verdict(),
          value["reason"].text(),
          value["text"].text(),
          value["numbers"].list(number),
          value["begin_s"].number(),
          value["end_s"].number()};
}

PairMatrix matrix(const Value& value, std::size_t hosts) {
  const Value times = value["time_s"];
  const auto rows = times.list([&](const Value& row) {
    std::vector<double> seconds = row.list([](const Value& v) { return v.number(); });
    if (seconds.size() != hosts)
      refuse(row.path(), fmt::format("has {} times for {} hosts", seconds.size(), hosts));
    return seconds;
  });
  if (rows.size() != hosts)
    refuse(times.path(), fmt::format("has {} rows for {} hosts", rows.size(), hosts));
  PairMatrix made{value["size_bytes"].count<std::size_t>()};
  for (const auto& row : rows) made.seconds.insert(made.seconds.end(), row.begin(), row.end());
  if (value.has("rail")) made.rail = value["rail"].count<std::size_t>();
  return made;
}

CurvePoint point(const Value& value) {
  return {value["size_bytes"].count<std::size_t>(), value["busbw_bytes_per_s"].number(),
          value["low_bytes_per_s"].number(), value["high_bytes_per_s"].number(),
          value["limit_bytes_per_s"].number()};
}

Curve curve(const Value& value) {
  return {value["stage"].text(), value["program"].text(), value["datatype"].text(),
          value["ranks"].count<int>(), value["points"].list(point)};
}

Record record(const Value& value) {
  if (value["tool"].text() != "ccl_acceptance") refuse("tool", "is not \"ccl_acceptance\"");
  if (const auto schema = value["schema_version"].count<int>(); schema != verdict_schema)
    refuse("schema_version", fmt::format("is {}; this program reads {}", schema, verdict_schema));
  Record made;
  made.verdict = value["verdict"].verdict();
  made.reason = value["reason"].text();
  made.headline = value["headline"].text();
  made.complete = value["complete"].truth();
  made.plan = value["plan"].text();
  if (value.has("plan_digest"))
    made.plan_digest = value["plan_digest"].text();  // not in older files
  made.version = value["version"].text();
  made.backend = value["backend"].text();
  made.library = value["library"].text();
  made.launcher = value["launcher"].text();
  made.command = value["command"].text();
  made.seed = value["seed"].count<unsigned long long>();
  made.begin_s = value["begin_s"].number();
  made.end_s = value["end_s"].number();
  made.excluded = value["excluded"].list(text_of);
  made.hosts = value["hosts"].list(host);
  made.stages = value["stages"].list(stage);
  made.checks = value["checks"].list(check);
  const std::size_t hosts = made.hosts.size();
  made.pairs = value["pairs"].list([&](const Value& v) { return matrix(v, hosts); });
  made.curves = value["curves"].list(curve);
  return made;
}

}  // namespace

Record read_verdict(std::string_view text) {
  Json json;
  try {
    json = Json::parse(text);
  } catch (const Json::parse_error& e) {
    refuse({}, fmt::format("is not JSON from byte {} on", e.byte));
  } catch (const Json::exception&) {
    refuse({}, "has a number that is too large");
  }
  return record(Value(json, {}));
}

}  // namespace ccl_tests::acceptance
