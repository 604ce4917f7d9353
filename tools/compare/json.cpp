#include <nlohmann/json.hpp>

#include "src/report/text.hpp"
#include "tools/compare/writers.hpp"

namespace ccl_tests::compare {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json header(const Report& report) {
  const Comparison& c = report.comparison;
  Json notes = Json::array();
  for (const std::string& note : all_notes(report)) notes.push_back(valid_utf8(note));
  return {{"type", "header"},
          {"schema_version", 1},
          {"program", valid_utf8(report.program)},
          {"base", valid_utf8(report.base)},
          {"head", valid_utf8(report.head)},
          {"threshold", report.threshold},
          {"tested_ratio", tested_ratio(report.threshold)},
          {"hints", report.hints},
          {"interleaved", report.interleaved},
          {"compared", report.by == JudgedBy::fast ? "fast" : "time"},
          {"aa", report.aa},
          {"screened_pairs", c.screened_pairs},
          {"tested_pairs", c.tested_pairs},
          {"looks", c.looks},
          {"redrawn_pairs", c.redrawn},
          {"core_to_core_low_s", c.probes ? Json(c.probes->low) : Json(nullptr)},
          {"core_to_core_high_s", c.probes ? Json(c.probes->high) : Json(nullptr)},
          {"notes", notes}};
}

Json line(const RowResult& row) {
  return {{"type", "row"},
          {"size_bytes", row.key.bytes},
          {"datatype", name(row.key.type)},
          {"op", row.key.op ? Json(name(*row.key.op)) : Json(nullptr)},
          {"root", or_null(row.key.root)},
          {"group", or_null(row.key.group)},
          {"pair", row.key.pair ? Json(name(*row.key.pair)) : Json(nullptr)},
          {"placement", row.key.in_place ? "in_place" : "out_of_place"},
          {"base_time_s", row.base_s},
          {"head_time_s", row.head_s},
          {"ratio", row.ratio},
          {"ratio_low", row.interval ? Json(row.interval->low) : Json(nullptr)},
          {"ratio_high", row.interval ? Json(row.interval->high) : Json(nullptr)},
          {"pairs", row.pairs},
          {"flagged", row.flagged},
          {"p_slower", or_null(row.p_slower)},
          {"p_faster", or_null(row.p_faster)},
          {"verdict", verdict_text(row)}};
}

Json footer(const Report& report) {
  const Summary s = summary(report);
  return {{"type", "footer"},
          {"verdict", s.verdict},
          {"exit_code", exit_code(s.code)},
          {"mean_ratio", s.mean_ratio},
          {"slower", s.count(RowVerdict::slower)},
          {"faster", s.count(RowVerdict::faster)},
          {"same", s.count(RowVerdict::same)},
          {"not_slower", s.count(RowVerdict::not_slower)},
          {"inconclusive", s.count(RowVerdict::inconclusive)},
          {"unflagged", s.count(RowVerdict::unflagged)},
          {"undecided", s.undecided}};
}

}  // namespace

std::string json_text(const Report& report) {
  std::string text = header(report).dump() + "\n";
  for (const RowResult& row : report.comparison.rows) text += line(row).dump() + "\n";
  return text + footer(report).dump() + "\n";
}

}  // namespace ccl_tests::compare
