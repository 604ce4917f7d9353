#include "src/report/reproductions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "src/report/row_text.hpp"

namespace ccl_tests {
namespace {

bool is_integer(DataType type) {
  return with_type(type, []<class T>() { return !is_float<T>; });
}

// "element 5 of rank 2: 1 (0x3f800000) and 1.5 (0x3fc00000), 4194304 ulp apart"
std::string difference_text(const Row& row) {
  const Reproduction& found = *row.reproduction;
  if (found.difference.empty()) return {};
  return fmt::format("element {} of rank {}: {}, {}{} apart", found.difference_index,
                     found.difference_rank, found.difference, found.difference_ulps,
                     is_integer(row.type) ? "" : " ulp");
}

std::string between_text(const Row& row) {
  const std::string where = difference_text(row);
  const Reproduction& found = *row.reproduction;
  std::string text = fmt::format("between {}", fmt::join(found.varies_between, ", "));
  if (!found.known_digest.empty()) text += fmt::format("; digest {} before", found.known_digest);
  return text + (where.empty() ? "" : "; first: ") + where;
}

}  // namespace

std::string_view name(Reproducibility found) {
  switch (found) {
    case Reproducibility::order_independent: return "order-independent";
    case Reproducibility::stable: return "stable";
    case Reproducibility::varies: return "varies";
  }
  return {};
}

std::string reproduction_text(const Row& row) {
  const Reproduction& found = *row.reproduction;
  const std::string calls = fmt::format("{} calls, digest {}", found.calls, found.digest);
  if (found.verdict == Reproducibility::varies)
    return fmt::format("VARIES {} ({})", between_text(row), calls);
  const std::string text = fmt::format("{} ({})", name(found.verdict), calls);
  const std::string where = difference_text(row);
  return where.empty() ? text : text + "; other bits if ranks exchange their data, first: " + where;
}

std::string reproduction_text(const ReproductionSummary& summary) {
  const std::size_t rows = summary.order_independent + summary.stable + summary.varying;
  const std::string plural = rows == 1 ? "" : "s";
  if (summary.varying > 0)
    return fmt::format("vary - in {} of {} row{}; first: {}", summary.varying, rows, plural,
                       summary.first_varying);
  return fmt::format("the same again - {} row{}: {} order-independent, {} stable", rows, plural,
                     summary.order_independent, summary.stable);
}

std::string digest_name(const RunInfo& run, const Row& row) {
  std::string text = fmt::format("{} {}", run.program, name(row.type));
  if (row.op) text += fmt::format(" {}", name(*row.op));
  if (row.root) text += fmt::format(" root {}", *row.root);
  if (row.group) text += fmt::format(" group {}", *row.group);
  return text + fmt::format(", {} elements, {} ranks, seed {}", row.count, run.ranks, run.seed);
}

void compare_digests(DigestFile& digests, const RunInfo& run, Row& row) {
  if (!row.reproduction) return;
  Reproduction& found = *row.reproduction;
  const auto known = digests.compare(digest_name(run, row), found.digest);
  if (!known) return;
  // What was known until now is where the order of the ranks' data shows.
  if (found.verdict != Reproducibility::varies) found.difference.clear();
  found.verdict = Reproducibility::varies;
  found.varies_between.emplace_back(known->from_file ? "runs" : "rows");
  found.known_digest = known->digest;
}

void add_reproduction(std::optional<ReproductionSummary>& summary, const Row& row,
                      std::size_t requested) {
  if (!row.reproduction) return;
  if (!summary) summary.emplace();
  switch (row.reproduction->verdict) {
    case Reproducibility::order_independent: ++summary->order_independent; return;
    case Reproducibility::stable: ++summary->stable; return;
    case Reproducibility::varies: break;
  }
  if (summary->varying++ == 0)
    summary->first_varying = row_name(row, requested) + " " + between_text(row);
}

}  // namespace ccl_tests
