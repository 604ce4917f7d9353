#include "tools/compare/comparable.hpp"

#include <fmt/format.h>

#include <set>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"

namespace ccl_tests::compare {
namespace {

using Names = std::set<std::string>;

template <class T, class Name>
std::string joined(const std::vector<T>& items, Name name_of) {
  Names names;
  for (const T& item : items) names.insert(name_of(item));
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

std::string types(const RecordedRun& run) {
  return joined(run.rows, [](const Row& row) { return std::string(name(row.type)); });
}
std::string ops(const RecordedRun& run) {
  return joined(run.rows,
                [](const Row& row) { return std::string(row.op ? name(*row.op) : "none"); });
}
std::string devices(const RecordedRun& run) {
  return joined(run.info.rank_lines, [](const RankLine& line) { return line.device_name; });
}
std::string hosts(const RecordedRun& run) {
  return joined(run.info.rank_lines, [](const RankLine& line) { return line.host; });
}
std::string kind_of_time(const RecordedRun& run) {
  if (run.info.samples) return "median of single samples (--samples)";
  return run.info.precision ? "median of a stream" : "mean of a batch (-n)";
}

void check_right(const NamedRun& run) {
  if (run.run.summary && run.run.summary->verdict == Verdict::wrong)
    throw UsageError(fmt::format("cannot compare: {} found wrong data in {} rows", run.name,
                                 run.run.summary->wrong_rows));
}

}  // namespace

void check_comparable(const NamedRun& base, const NamedRun& head) {
  const auto same = [&](const char* field, const std::string& a, const std::string& b) {
    if (a != b)
      throw UsageError(fmt::format("cannot compare: {} is {} in {} and {} in {}", field, quote(a),
                                   base.name, quote(b), head.name));
  };
  const RunInfo& a = base.run.info;
  const RunInfo& b = head.run.info;
  same("program", a.program, b.program);
  same("mode", a.mode, b.mode);
  same("backend", a.backend, b.backend);
  same("ranks", std::to_string(a.ranks), std::to_string(b.ranks));
  same("clock", a.clock, b.clock);
  check_right(base);
  check_right(head);
  if (base.run.rows.empty() || head.run.rows.empty())
    throw UsageError(fmt::format("cannot compare: {} has no rows",
                                 base.run.rows.empty() ? base.name : head.name));
  same("time", kind_of_time(base.run), kind_of_time(head.run));
  if (!a.cache.empty() && !b.cache.empty())  // older files do not say
    same("cache", a.cache, b.cache);
  same("datatype", types(base.run), types(head.run));
  same("op", ops(base.run), ops(head.run));
}

std::vector<std::string> differences(const NamedRun& base, const NamedRun& head) {
  std::vector<std::string> notes;
  const auto compare = [&](const char* field, const std::string& a, const std::string& b) {
    if (a != b)
      notes.push_back(fmt::format("{} differs: {} in {}, {} in {}", field, quote(a), base.name,
                                  quote(b), head.name));
  };
  const RunInfo& a = base.run.info;
  const RunInfo& b = head.run.info;
  compare("version", a.version, b.version);
  compare("library_version", a.library_version, b.library_version);
  compare("device_name", devices(base.run), devices(head.run));
  compare("host", hosts(base.run), hosts(head.run));
  compare("launcher", a.launcher, b.launcher);
  compare("placement", a.placement, b.placement);
  return notes;
}

}  // namespace ccl_tests::compare
