// What RankRun's ranks tell each other of half a row, and the row that becomes of it.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "src/report/field_json.hpp"
#include "src/report/field_visitors.hpp"
#include "src/report/row_text.hpp"
#include "src/run/rank_case.hpp"
#include "verify/coverage.hpp"

namespace ccl_tests {
namespace {

// One rank's half row, as exchanged; its mismatch follows as JSON.
struct HalfReport {
  double wall, issue;
  std::uint64_t wrong;
  StepTimes steps;
  std::uint64_t intervals;  // so many seconds of single iterations follow (-I)
};

std::vector<double> intervals_in(const std::string& report) {
  std::vector<double> seconds(unpack<HalfReport>(report).intervals);
  if (report.size() < sizeof(HalfReport) + seconds.size() * sizeof(double))
    throw Error("a rank sent a malformed report");
  std::memcpy(seconds.data(), report.data() + sizeof(HalfReport), seconds.size() * sizeof(double));
  return seconds;
}

Mismatch mismatch_in(const std::string& report) {
  const std::size_t before =
      sizeof(HalfReport) + unpack<HalfReport>(report).intervals * sizeof(double);
  Mismatch mismatch;
  fields(mismatch, Assign(parse_json_object(std::string_view(report).substr(before))));
  return mismatch;
}

// Over the ranks of a group, of each iteration the slowest rank's seconds. operations: that an
// iteration is made of.
IterationTimes iterations_of(const Reports& reports, const std::vector<int>& members, int skipped,
                             double operations) {
  IterationTimes times;
  for (const int rank : members) {
    const auto seconds = intervals_in(reports[static_cast<std::size_t>(rank)]);
    times.seconds.resize(std::max(times.seconds.size(), seconds.size()));
    for (std::size_t i = 0; i < seconds.size(); ++i)
      times.seconds[i] = std::max(times.seconds[i], seconds[i] / operations);
  }
  // --row-time may have left fewer iterations than were to be skipped: the last one counts.
  const int measured = static_cast<int>(times.seconds.size());
  times.skipped = std::min(skipped, std::max(0, measured - 1));
  times.of = statistics({times.seconds.begin() + times.skipped, times.seconds.end()});
  return times;
}

double over_ranks(const std::vector<HalfReport>& halves, double HalfReport::*time,
                  const Options& o) {
  std::vector<double> seconds;
  for (const HalfReport& half : halves) seconds.push_back(half.*time);
  return average(static_cast<Average>(o.average), seconds.data(), seconds.size());
}

// Of the ranks of one group. algbw and busbw are of the wall time, whatever the table's column is.
void fill_times(Measurement& cell, const std::vector<HalfReport>& halves,
                const Collective& collective, const Shape& shape, const Options& o) {
  const Layout layout = collective.layout(shape);
  const auto legs = static_cast<double>(layout.legs);
  const double trips = legs * static_cast<double>(layout.messages);
  const double wall = over_ranks(halves, &HalfReport::wall, o);
  cell.seconds = (o.cpu_time ? over_ranks(halves, &HalfReport::issue, o) : wall) / trips;
  const auto less = [](const HalfReport& a, const HalfReport& b) { return a.wall < b.wall; };
  const auto [first, last] = std::minmax_element(halves.begin(), halves.end(), less);
  cell.min_seconds = first->wall / trips;
  cell.max_seconds = last->wall / trips;
  if (wall <= 0) return;
  cell.algbw = static_cast<double>(layout.algbw_bytes) * legs / wall / 1e9;
  cell.busbw = cell.algbw * collective.bus_factor(shape);
  if (collective.paired && layout.algbw_bytes > 0) cell.messages_per_s = trips / wall;
}

StepTimes mean_steps(const std::vector<HalfReport>& halves) {
  StepTimes mean;
  const auto n = static_cast<double>(halves.size());
  for (const HalfReport& half : halves) {
    mean.sizes_s += half.steps.sizes_s / n;
    mean.payload_s += half.steps.payload_s / n;
    mean.packing_s += half.steps.packing_s / n;
  }
  return mean;
}

}  // namespace

// As the first rank of a group sees it.
Shape RankRun::shape_of(const Case& c, int group) {
  return {c.shape.count,
          c.shape.type_bytes,
          {0, c.groups.ranks_of(group), group},
          c.shape.options,
          c.shape.root};
}

Row RankRun::row_of(const Case& c, int group) const {
  const Collective& collective = context_.collective;
  const Shape shape = shape_of(c, group);
  Row row;
  row.bytes = collective.fixed_bytes.value_or(row_bytes(collective, shape).size);
  row.count = collective.layout(shape).table_count;
  row.type = c.type;
  row.op = c.op;
  if (collective.rooted) row.root = shape.root;
  row.bus_factor = collective.bus_factor(shape);
  if (collective.padding_waste != nullptr) row.padding_waste = collective.padding_waste(shape);
  row.emulated = c.op && communicator_.emulated(*c.op, c.type);
  const verify::Pattern& pattern = verifier_->pattern();
  row.coverage = c.verifiable && row.bytes > 0
                     ? verify::coverage(pattern.inputs(), pattern.phase(0, 0), c.shape.count)
                     : 1;
  if (collective.paired) {
    row.pair = {c.groups.members(group)[0], c.groups.members(group)[1]};
  } else if (context_.options.group_rows) {
    row.group = group;
  }
  return row;
}

std::vector<Measurement> RankRun::conclude(const Case& c, bool is_in_place, int iterations,
                                           const BatchTime& time, const Checked& checked,
                                           const OnWrong& on_wrong) {
  const RankGroups& groups = c.groups;
  std::string report = pack(HalfReport{time.wall, time.issue, checked.found.wrong, checked.steps,
                                       checked.intervals.size()});
  for (const double seconds : checked.intervals) report += pack(seconds);
  if (checked.found.wrong > 0) {
    const verify::Mismatch& found = checked.found;
    Mismatch mismatch{world_.rank(), host_,       {},         {},
                      found.wrong,   found.first, found.last, found.explanation};
    if (groups.number() > 1 && !context_.collective.paired) {
      mismatch.group = c.shape.self.group;
      mismatch.group_rank = c.shape.self.rank;
    }
    FieldRecord values;
    fields(mismatch, Collect(values));
    report += json_object(values);
  }
  const auto reports = world_.all_gather(report, exchange_limit(context_.options, c.bytes.region));
  std::vector<Measurement> cells;
  for (int g = 0; g < groups.number(); ++g) {
    Measurement& cell = cells.emplace_back();
    cell.iterations = iterations;
    cell.calls = checked.calls;
    cell.verified_calls = checked.verified;
    std::vector<HalfReport> halves;
    for (const int rank : groups.members(g))
      halves.push_back(unpack<HalfReport>(reports[static_cast<std::size_t>(rank)]));
    fill_times(cell, halves, context_.collective, shape_of(c, g), context_.options);
    if (composite_) cell.steps = mean_steps(halves);
    if (context_.options.per_iteration) {
      const Layout layout = context_.collective.layout(shape_of(c, g));
      const auto operations =
          static_cast<double>(layout.legs * layout.messages) * context_.options.aggregate;
      cell.per_iteration = iterations_of(reports, groups.members(g),
                                         context_.options.per_iteration_skip, operations);
    }
    if (c.verifiable) cell.wrong = 0;
    for (const HalfReport& half : halves) {
      if (c.verifiable) *cell.wrong += half.wrong;
      if (half.wrong > 0) ++cell.failed_ranks;
    }
    for (const int rank : groups.members(g)) {
      const std::string& bytes = reports[static_cast<std::size_t>(rank)];
      if (unpack<HalfReport>(bytes).wrong == 0) continue;
      cell.mismatches.push_back(mismatch_in(bytes));
      on_wrong(fmt::format("wrong: {} {}: {}", row_name(row_of(c, g), c.requested),
                           is_in_place ? "in place" : "out of place",
                           mismatch_text(cell.mismatches.back())));
    }
  }
  return cells;
}

}  // namespace ccl_tests
