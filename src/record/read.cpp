#include "src/record/read.hpp"

#include <fmt/format.h>

#include "src/core/error.hpp"
#include "src/core/given_file.hpp"
#include "src/core/quote.hpp"
#include "src/options/flag.hpp"
#include "src/record/field_value.hpp"
#include "src/record/quantity_text.hpp"
#include "src/record/row_text.hpp"

namespace ccl_tests {
namespace {

std::string text(const FieldRecord& record, std::string_view name) {
  const FieldValue* const value = find(record, name);
  if (value == nullptr || !value->is_string()) throw Error(fmt::format("no \"{}\"", name));
  return value->get<std::string>();
}

FieldRecord object(const FieldRecord& record, std::string_view name) {
  const FieldValue* const value = find(record, name);
  if (value == nullptr || !value->is_object()) throw Error(fmt::format("no \"{}\"", name));
  return *value;
}

// Returns whether these are the first bytes of a .json file, ours or nccl-tests' own.
bool is_nccl_tests(std::string_view head) {
  return head.starts_with('{') && head.find("\"nccl_version\"") != std::string_view::npos;
}

// Returns the placements that the run measured: older files do not say, and have both.
Placements placements_of(const RunInfo& run) {
  for (const Placements some : {Placements::out_of_place, Placements::in_place})
    for (const Setting& setting : run.settings)
      if (setting == Setting{std::string(placements_setting), std::string(name(some))}) return some;
  return Placements::both;
}

class Runs {
 public:
  std::vector<RecordedRun> take() {
    keep_half_row();
    return std::move(runs_);
  }

  void add(const FieldRecord& line) {
    const std::string type = text(line, "type");
    if (type == "header") {
      begin(line);
    } else if (type == "row") {
      if (runs_.empty() || runs_.back().summary) throw Error("a row without a header");
      row(line);
    } else if (type == "footer") {
      if (runs_.empty() || runs_.back().summary) runs_.emplace_back();  // it failed at its start
      end(line);
    } else {
      throw Error(fmt::format("\"type\" is \"{}\"", type));
    }
  }

 private:
  // A process was killed between the two lines of a row: the first one is a row of one placement.
  void keep_half_row() {
    if (half_row_) runs_.back().rows.back().in_place.left_out = true;
    half_row_ = false;
  }

  void begin(const FieldRecord& line) {
    keep_half_row();
    int version = 0;
    if (const FieldValue* const value = find(line, "schema_version")) assign(*value, version);
    if (version != 2) throw Error(fmt::format("schema version {}; this program reads 2", version));
    RunInfo& info = runs_.emplace_back().info;
    fields(info, Assign(object(line, "header")));
    placements_ = placements_of(info);
  }

  void row(const FieldRecord& line) {
    std::vector<Row>& rows = runs_.back().rows;
    const bool in_place = text(line, "placement") == "in_place";
    const bool both = placements_ == Placements::both;
    if (both ? in_place != half_row_ : !includes(placements_, in_place))
      throw Error("half a row is missing");
    if (!half_row_) {
      Row& row = rows.emplace_back();
      fields(row, Assign(line));
      row.out_of_place.left_out = !includes(placements_, false);
      row.in_place.left_out = !includes(placements_, true);
    }
    fields(in_place ? rows.back().in_place : rows.back().out_of_place, Assign(line));
    half_row_ = both && !half_row_;
  }

  void end(const FieldRecord& line) {
    keep_half_row();
    fields(runs_.back().summary.emplace(), Assign(object(line, "footer")));
  }

  std::vector<RecordedRun> runs_;
  Placements placements_ = Placements::both;  // that rows of this run have
  bool half_row_ = false;                     // the last row has one of two lines, in schema 2
};

std::string kind_of_time(const RunInfo& run) {
  if (run.options.measure.samples) return "median of single samples (--samples)";
  return run.precision ? "median of a stream" : "mean of a batch (-n)";
}

bool is_wrong(const Measurement& cell) {
  return cell.wrong.value_or(0) + cell.failed_ranks > 0 || !cell.mismatches.empty();
}

// Returns "gloo" for "gloo-20260421", which is Gloo of another day.
std::string library_of(const std::string& backend) {
  return backend.starts_with("gloo-") ? "gloo" : backend;
}

}  // namespace

std::vector<RecordedRun> read_runs(const std::string& path) {
  constexpr std::size_t longest_line = std::size_t{64} << 20;  // of a row with every rank's stamps
  constexpr std::size_t enough = 1 << 16;                      // to tell another format
  Runs runs;
  int number = 0;
  std::string head, refusal;  // of a file whose first line is no line of ours
  for_each_given_line(path, longest_line, [&](std::string_view line, bool ended) {
    ++number;
    if (!refusal.empty()) {
      head += line;
      return head.size() < enough;
    }
    try {
      runs.add(parse_json_object(line));
    } catch (const Error& e) {
      const std::string where = fmt::format("{}:{}: {}", path, number, e.what());
      if (number == 1) {
        head = line.substr(0, enough);
        if (ended || is_nccl_tests(head)) refusal = where;
        return ended;
      }
      if (!ended) return false;  // a process was killed while it wrote
      throw Error(where);
    }
    return true;
  });
  if (!refusal.empty() && is_nccl_tests(head))
    throw Error(
        fmt::format("{} has nccl-tests' format, one JSON document without intervals", path));
  if (!refusal.empty()) throw Error(refusal);
  return runs.take();
}

std::string found_wrong(const RecordedRun& run) {
  const RunSummary found = run.summary.value_or(RunSummary());
  if (!found.first_wrong.empty()) return "wrong data: " + found.first_wrong;
  std::string varying = found.reproduction ? found.reproduction->first_varying : "";
  bool varies =
      found.verdict == Verdict::varies || (found.reproduction && found.reproduction->varying > 0);
  for (const Row& row : run.rows) {
    for (const bool in_place : {false, true}) {
      const Measurement& cell = in_place ? row.in_place : row.out_of_place;
      if (!is_wrong(cell)) continue;
      const std::string where = row_place(row, row.bytes, placement_words(in_place));
      if (!cell.mismatches.empty()) return wrong_line(cell.mismatches.front(), where);
      return fmt::format("wrong data: {}: {}", where,
                         counted(cell.wrong.value_or(0), "wrong element"));
    }
    if (!row.reproduction || row.reproduction->verdict != Reproducibility::varies) continue;
    varies = true;
    if (varying.empty()) varying = row_name(row, row.bytes);
  }
  if (found.verdict == Verdict::wrong || found.wrong_rows + found.failed_checks > 0)
    return fmt::format("wrong data: {}", counted(found.wrong_elements, "wrong element"));
  if (varies) return "bits vary: " + varying;
  return found.exit_code == exit_code(Exit::wrong_data) ? "wrong data: exit code 7" : "";
}

void check_same(const char* field, const std::string& in_base, const std::string& base,
                const std::string& in_head, const std::string& head) {
  if (in_base != in_head)
    throw UsageError(fmt::format("cannot compare: {} is {} in {} and {} in {}", field,
                                 quote(in_base), base, quote(in_head), head));
}

std::string routing_of(const RunInfo& run) {
  for (const Setting& setting : run.settings)
    if (setting.name == "routing") return text_of(setting.value);
  return {};
}

void check_same_measurement(const NamedHeader& base, const NamedHeader& head, Routings routings) {
  const RunInfo& a = base.run;
  const RunInfo& b = head.run;
  const auto same = [&](const char* field, const std::string& in_a, const std::string& in_b) {
    check_same(field, in_a, base.name, in_b, head.name);
  };
  same("program", a.program, b.program);
  const auto mode_of = [&](const RunInfo& run) {
    std::string mode = run.mode;
    const std::string name = routings == Routings::any ? routing_of(run) : "";
    if (const auto at = mode.find(name); at != std::string::npos) mode.erase(at, name.size());
    return mode;
  };
  same("mode", mode_of(a), mode_of(b));
  same("backend", library_of(a.backend), library_of(b.backend));
  same("ranks", std::to_string(a.ranks), std::to_string(b.ranks));
  same("clock", a.clock, b.clock);
  same("time", kind_of_time(a), kind_of_time(b));
  if (!a.cache.empty() && !b.cache.empty())  // older files do not say
    same("cache", a.cache, b.cache);
}

}  // namespace ccl_tests
