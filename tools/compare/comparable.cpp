#include "tools/compare/comparable.hpp"

#include <fmt/format.h>

#include <set>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/record/read.hpp"
#include "src/report/verdict_file.hpp"

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
std::string waits(const RecordedRun& run) { return run.info.oversubscribed ? "yes" : "no"; }
std::string hosts(const RecordedRun& run) {
  return joined(run.info.rank_lines, [](const RankLine& line) { return line.host; });
}

}  // namespace

void check_right(const NamedRun& run) {
  if (!run.run.summary) return;
  const RunSummary& found = *run.run.summary;
  if (found.verdict == Verdict::wrong || found.verdict == Verdict::varies)
    throw Error(fmt::format("cannot compare: {}: {}", run.name, headline(run.run.info, found)),
                Exit::wrong_data);
}

void check_comparable(const NamedRun& base, const NamedRun& head) {
  check_same_measurement({base.name, base.run.info}, {head.name, head.run.info});
  check_right(base);
  check_right(head);
  if (base.run.rows.empty() || head.run.rows.empty())
    throw UsageError(fmt::format("cannot compare: {} has no rows",
                                 base.run.rows.empty() ? base.name : head.name));
  check_same("datatype", types(base.run), base.name, types(head.run), head.name);
  check_same("op", ops(base.run), base.name, ops(head.run), head.name);
}

void check_same_number(const NamedRun& base, const NamedRun& head) {
  check_same("whether ranks wait for CPUs", waits(base.run), base.name, waits(head.run), head.name);
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
  compare("whether ranks wait for CPUs", waits(base.run), waits(head.run));
  return notes;
}

}  // namespace ccl_tests::compare
