#include "src/record/reproductions.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/options/flag.hpp"
#include "src/record/quantity_text.hpp"
#include "src/record/row_text.hpp"

namespace ccl_tests {
namespace {

constexpr std::size_t digits = 16;
constexpr std::string_view gap = "  ";
constexpr std::size_t longest_line = 1000;

std::string reason() { return std::generic_category().message(errno); }

[[noreturn]] void refuse(const std::string& why) {
  throw UsageError(fmt::format(
      "--digests: {}; accepted: a file that --digests has written, or the name of a new one", why));
}

// "element 5 of rank 2, 1 (0x3f800000) and 1.5 (0x3fc00000), 4194304 ulp apart"
std::string difference_text(const Row& row) {
  const Reproduction& found = *row.reproduction;
  if (found.difference.empty()) return {};
  const bool is_integer = with_type(row.type, []<class T>() { return !is_float<T>; });
  return fmt::format("element {} of rank {}, {}, {}{} apart", found.difference_index.value_or(0),
                     found.difference_rank.value_or(0), found.difference,
                     found.difference_ulps.value_or(0), is_integer ? "" : " ulp");
}

std::string between_text(const Row& row) {
  const Reproduction& found = *row.reproduction;
  const std::string where = difference_text(row);
  std::string text = fmt::format("between {}", fmt::join(found.varies_between, ", "));
  if (!where.empty()) text += ": " + where;
  if (!found.known_digest.empty())
    text += fmt::format("; digest {}, before {}{}", found.digest, found.known_digest,
                        found.compared_with == "runs" ? " (of this library or another)" : "");
  return text;
}

// The setting's text if it is not `otherwise`: ", skew linear".
std::string named_setting(const RunInfo& run, std::string_view name, std::string_view otherwise) {
  for (const Setting& setting : run.settings) {
    if (setting.name != name) continue;
    const std::string text = text_of(setting.value);
    return text.empty() || text == otherwise ? "" : fmt::format(", {} {}", name, text);
  }
  return {};
}

}  // namespace

DigestFile::DigestFile(std::string path) : path_(std::move(path)) {
  if (std::filesystem::exists(path_) && !std::filesystem::is_regular_file(path_))
    refuse(quote(path_) + " is no file");
  file_.reset(std::fopen(path_.c_str(), "ae"));
  if (!file_) refuse(fmt::format("cannot write {}: {}", quote(path_), reason()));
  identity_ = identity_of(::fileno(file_.get()), path_);
  // Lines that two runs add at once would not be compared. Some network file systems have no locks.
  if (::flock(::fileno(file_.get()), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw UsageError(fmt::format(
        "--digests: another run writes {} now; accepted: a file of its own for each run",
        quote(path_)));
  read();
}

void DigestFile::read() {
  std::ifstream in(path_);
  if (!in) refuse(fmt::format("cannot read {}: {}", quote(path_), reason()));
  std::array<char, longest_line> buffer;
  for (std::size_t number = 1; in.getline(buffer.data(), buffer.size()) || in.gcount() > 0;
       ++number) {
    const bool whole = !in.fail() && !in.eof();
    const std::string line(buffer.data());
    const bool is_digest = whole && line.size() > digits + gap.size() &&
                           line.find_first_not_of("0123456789abcdef") == digits &&
                           line.compare(digits, gap.size(), gap) == 0;
    if (!is_digest)
      refuse(fmt::format("line {} of {} is not a digest and a row", number, quote(path_)));
    const Known known{line.substr(0, digits), true};
    const auto [at, added] = known_.try_emplace(line.substr(digits + gap.size()), known);
    if (at->second.digest != known.digest)
      refuse(
          fmt::format("line {} of {} is another digest of a row above it", number, quote(path_)));
  }
  if (in.bad()) throw Error(fmt::format("--digests: cannot read {}: {}", quote(path_), reason()));
}

std::optional<DigestFile::Known> DigestFile::compare(const std::string& row,
                                                     const std::string& digest) {
  const auto [at, added] = known_.try_emplace(row, Known{digest, false});
  if (!added) return at->second;
  if (!file_) return std::nullopt;
  check();
  const std::string line = fmt::format("{}{}{}\n", digest, gap, row);
  if (std::fputs(line.c_str(), file_.get()) < 0 || std::fflush(file_.get()) != 0)
    throw Error(fmt::format("--digests: cannot write {}: {}", quote(path_), reason()));
  return std::nullopt;
}

void DigestFile::check() const {
  if (!file_) return;
  if (const auto lost = lost_name(::fileno(file_.get()), path_, identity_); !lost.empty())
    throw Error(fmt::format("--digests: cannot write {}: {}", quote(path_), lost));
}

std::string reproduction_text(const Row& row) {
  const Reproduction& found = *row.reproduction;
  if (found.verdict == Reproducibility::varies)
    return fmt::format("VARIES {} ({} calls)", between_text(row), found.calls);
  std::string text =
      fmt::format("{} ({} calls, digest {})", name(found.verdict), found.calls, found.digest);
  if (found.verdict == Reproducibility::order_independent) return text;
  if (found.difference.empty())
    return text + "; each rank's factor is its own: other orders were not tried";
  return text + "; the bits depend on which rank has which data, for example " +
         difference_text(row);
}

std::string reproduction_text(const RunSummary& run) {
  const ReproductionSummary& found = *run.reproduction;
  const std::string rows = counted(found.order_independent + found.stable + found.varying, "row");
  std::string text = run.complete ? "" : "so far ";
  if (found.varying > 0)
    text += fmt::format("vary - in {} of {}; first: {}", found.varying, rows, found.first_varying);
  else
    text += fmt::format("the same again - {}: {} order-independent, {} stable", rows,
                        found.order_independent, found.stable);
  if (!found.digests.empty())
    text += fmt::format("; {} compared with {}", found.compared, found.digests);
  return text;
}

std::string digest_name(const RunInfo& run, const Row& row) {
  std::string text = fmt::format("{} {}", run.program, name(row.type));
  if (row.op) text += fmt::format(" {}", name(*row.op));
  if (row.root) text += fmt::format(" root {}", *row.root);
  text +=
      fmt::format(", {} elements, {} ranks, seed {}", row.count, run.ranks, run.options.check.seed);
  text += named_setting(run, "group", "") + named_setting(run, "skew", "equal");
  return row.group ? fmt::format("{}, group {}", text, *row.group) : text;
}

void compare_digests(DigestFile& digests, const RunInfo& run, Row& row) {
  if (!row.reproduction || row.reproduction->verdict == Reproducibility::varies) return;
  if (row.out_of_place.failed_ranks + row.in_place.failed_ranks > 0) return;
  Reproduction& found = *row.reproduction;
  const auto known = digests.compare(digest_name(run, row), found.digest);
  if (!known) return;
  found.compared_with = known->from_file ? "runs" : "rows";
  found.known_digest = known->digest;
  if (known->digest == found.digest) return;
  found.verdict = Reproducibility::varies;
  found.varies_between = {found.compared_with};
  // The difference known until now is where the order of the ranks' data shows.
  found.difference.clear();
  found.difference_rank.reset();
  found.difference_index.reset();
  found.difference_ulps.reset();
}

void add_reproduction(std::optional<ReproductionSummary>& summary, const Row& row,
                      std::size_t requested) {
  if (!row.reproduction) return;
  if (!summary) summary.emplace();
  if (row.reproduction->compared_with == "runs") ++summary->compared;
  switch (row.reproduction->verdict) {
    case Reproducibility::order_independent: ++summary->order_independent; return;
    case Reproducibility::stable: ++summary->stable; return;
    case Reproducibility::varies: break;
  }
  if (summary->varying++ == 0)
    summary->first_varying = row_name(row, requested) + " " + between_text(row);
}

}  // namespace ccl_tests
