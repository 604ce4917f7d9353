#include "tools/acceptance/report/verdict_json.hpp"

#include <cmath>
#include <nlohmann/json.hpp>

#include "src/report/text.hpp"
#include "tools/acceptance/report/headline.hpp"

namespace ccl_tests::acceptance {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

template <class Items, class Make>
Json list(const Items& items, Make make) {
  Json array = Json::array();
  for (const auto& item : items) array.push_back(make(item));
  return array;
}

Json json(const Host& host) {
  Json facts = Json::object();
  for (const auto& [key, value] : host.facts) facts[valid_utf8(key)] = valid_utf8(value);
  return {{"name", valid_utf8(host.name)}, {"ranks", host.ranks}, {"facts", facts}};
}

Json json(const Stage& stage) {
  return {{"name", valid_utf8(stage.name)},
          {"verdict", name(stage.verdict)},
          {"text", valid_utf8(stage.text)},
          {"begin_s", number(stage.begin_s)},
          {"end_s", number(stage.end_s)}};
}

Json json(const Number& quantity) {
  return {{"name", valid_utf8(quantity.name)},
          {"value", number(quantity.value)},
          {"unit", valid_utf8(quantity.unit)}};
}

Json json(const Check& check) {
  return {{"id", valid_utf8(check.id)},
          {"stage", valid_utf8(check.stage)},
          {"subject", valid_utf8(check.subject)},
          {"verdict", name(check.verdict)},
          {"reason", valid_utf8(check.reason)},
          {"text", valid_utf8(check.text)},
          {"numbers", list(check.numbers, [](const Number& n) { return json(n); })},
          {"begin_s", number(check.begin_s)},
          {"end_s", number(check.end_s)}};
}

// Rows of the matrix; its last row is short if the matrix is not square.
Json json(const PairMatrix& matrix, std::size_t hosts) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < matrix.seconds.size(); ++i) {
    if (hosts == 0 || i % hosts == 0) rows.push_back(Json::array());
    rows.back().push_back(number(matrix.seconds[i]));
  }
  return {{"size_bytes", matrix.bytes}, {"rail", matrix.rail}, {"time_s", rows}};
}

Json json(const CurvePoint& point) {
  return {{"size_bytes", point.bytes},
          {"busbw_bytes_per_s", number(point.busbw)},
          {"low_bytes_per_s", number(point.low)},
          {"high_bytes_per_s", number(point.high)},
          {"limit_bytes_per_s", number(point.limit)}};
}

Json json(const Curve& curve) {
  return {{"stage", valid_utf8(curve.stage)},
          {"program", valid_utf8(curve.program)},
          {"datatype", valid_utf8(curve.type)},
          {"ranks", curve.ranks},
          {"points", list(curve.points, [](const CurvePoint& p) { return json(p); })}};
}

Json json(const Record& record) {
  const std::size_t hosts = record.hosts.size();
  const NextStep next = next_step(record);
  return {{"tool", "ccl_acceptance"},
          {"schema_version", verdict_schema},
          {"verdict", name(record.verdict)},
          {"reason", valid_utf8(record.reason)},
          {"relative", is_relative(record)},
          {"headline", valid_utf8(record.headline)},
          {"next", {{"what", valid_utf8(next.what)}, {"command", valid_utf8(next.command)}}},
          {"containment", valid_utf8(containment_text(record))},
          {"complete", record.complete},
          {"plan", valid_utf8(record.plan)},
          {"plan_digest", valid_utf8(record.plan_digest)},
          {"version", valid_utf8(record.version)},
          {"backend", valid_utf8(record.backend)},
          {"library", valid_utf8(record.library)},
          {"launcher", valid_utf8(record.launcher)},
          {"command", valid_utf8(record.command)},
          {"seed", record.seed},
          {"begin_s", number(record.begin_s)},
          {"end_s", number(record.end_s)},
          {"excluded", list(record.excluded, [](const std::string& n) { return valid_utf8(n); })},
          {"hosts", list(record.hosts, [](const Host& h) { return json(h); })},
          {"stages", list(record.stages, [](const Stage& s) { return json(s); })},
          {"checks", list(record.checks, [](const Check& c) { return json(c); })},
          {"pairs", list(record.pairs, [&](const PairMatrix& m) { return json(m, hosts); })},
          {"curves", list(record.curves, [](const Curve& c) { return json(c); })}};
}

}  // namespace

std::string verdict_json(const Record& record) {
  const Json whole = json(record);
  std::string text;
  for (const auto& [key, value] : whole.items()) {
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

}  // namespace ccl_tests::acceptance
