#include "src/report/schema_1.hpp"

#include <algorithm>
#include <map>
#include <string_view>

namespace ccl_tests {
namespace {

// Returns the object of this name; an empty one if there is none, or null.
FieldRecord object(FieldRecord& record, std::string_view name) {
  FieldValue* const value = find(record, name);
  auto* const object = value == nullptr ? nullptr : std::get_if<FieldRecord>(value);
  return object == nullptr ? FieldRecord() : std::move(*object);
}

std::string text(const FieldValue& value) {
  const auto* const text = std::get_if<std::string>(&value);
  return text == nullptr ? std::string() : *text;
}

// The statistics of -I were an object, with these names.
FieldRecord flat_half(FieldRecord half) {
  static const std::map<std::string_view, const char*> names = {
      {"skipped", "skipped_iterations"}, {"min_s", "iteration_min_s"},
      {"max_s", "iteration_max_s"},      {"mean_s", "iteration_mean_s"},
      {"p50_s", "iteration_p50_s"},      {"p95_s", "iteration_p95_s"},
      {"p99_s", "iteration_p99_s"},      {"stdev_s", "iteration_stdev_s"},
      {"times_s", "iteration_times_s"}};
  for (const Field& field : object(half, "steps")) half.push_back(field);
  for (const Field& field : object(half, "per_iteration"))
    if (const auto known = names.find(field.name); known != names.end())
      half.push_back({known->second, field.value});
  return half;
}

}  // namespace

FieldRecord header_from_schema_1(FieldRecord line) {
  if (const FieldValue* const iterations = find(line, "iterations")) {
    const FieldValue value = *iterations;
    line.push_back({"requested_iterations", value});
  }
  std::vector<std::string> environment;
  for (const Field& variable : object(line, "environment"))
    environment.push_back(variable.name + "=" + text(variable.value));
  if (FieldValue* const value = find(line, "environment")) *value = environment;
  FieldValue* const notes = find(line, "notes");
  if (notes == nullptr) return line;
  std::vector<FieldRecord> records;
  if (const auto* const lines = std::get_if<std::vector<std::string>>(notes)) {
    for (const std::string& note : *lines)
      records.push_back({{"kind", value_of(NoteKind::note)}, {"text", value_of(note)}});
  }
  *notes = std::move(records);
  return line;
}

RowOfSchema1 row_from_schema_1(FieldRecord line) {
  if (FieldValue* const op = find(line, "op"); op != nullptr && text(*op) == "none") *op = {};
  if (FieldValue* const root = find(line, "root")) {
    if (std::holds_alternative<std::int64_t>(*root)) *root = {};  // -1
  }
  if (FieldValue* const pair = find(line, "pair")) {
    const auto* const ranks = std::get_if<std::vector<std::uint64_t>>(pair);
    if (ranks != nullptr && ranks->size() == 2)
      *pair = std::to_string(ranks->front()) + ":" + std::to_string(ranks->back());
  }
  RowOfSchema1 row;
  row.out_of_place = flat_half(object(line, "out_of_place"));
  row.in_place = flat_half(object(line, "in_place"));
  row.row = std::move(line);
  return row;
}

FieldRecord footer_from_schema_1(FieldRecord line) {
  const FieldValue* const complete = find(line, "complete");
  const bool reached_its_end = complete == nullptr || *complete == FieldValue(true);
  const FieldValue* const checks = find(line, "failed_checks");
  const FieldValue* const code = find(line, "exit_code");
  const bool wrong = checks != nullptr && *checks != FieldValue(std::uint64_t{0});
  const bool slow = code != nullptr && *code == FieldValue(std::uint64_t{6});
  const Verdict verdict = !reached_its_end ? Verdict::incomplete
                          : wrong          ? Verdict::wrong
                          : slow           ? Verdict::slow
                                           : Verdict::ok;
  line.push_back({"verdict", value_of(verdict)});
  return line;
}

}  // namespace ccl_tests
