#include "src/record/row_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "src/options/values.hpp"

namespace ccl_tests {

std::string row_name(const Row& row, std::size_t requested) {
  std::string text = fmt::format("{} B {}", requested, name(row.type));
  if (row.op) text += fmt::format(" {}", name(*row.op));
  if (row.pair) text += " pair " + name(*row.pair);
  if (row.group) text += fmt::format(" group {}", *row.group);
  if (row.root) text += fmt::format(" root {}", *row.root);
  return text;
}

std::string row_place(const Row& row, std::size_t requested, std::string_view placement) {
  return fmt::format("{} {}", row_name(row, requested), placement);
}

std::string mismatch_text(const Mismatch& m) {
  std::string in_group;
  if (m.group && m.group_rank)
    in_group = fmt::format(" (rank {} of group {})", *m.group_rank, *m.group);
  return fmt::format("rank {}{} on {}: {} wrong, elements {} to {}: {}", m.rank, in_group, m.host,
                     m.wrong, m.first, m.last, m.explanation);
}

std::string wrong_line(const Mismatch& mismatch, const std::string& where) {
  return fmt::format("wrong: {}: {}", where, mismatch_text(mismatch));
}

std::string rerun_flags(const Row& row, std::size_t requested, const CheckOptions& check) {
  constexpr int checks = 20;
  const std::string size = size_text(requested);
  std::string flags = fmt::format("-b {} -e {} -d {}", size, size, name(row.type));
  if (row.op) flags += fmt::format(" -o {}", name(*row.op));
  if (row.root) flags += fmt::format(" -r {}", *row.root);
  if (row.pair) flags += " --pairs " + name(*row.pair);
  if (check.data.kind != verify::DataKind::exact)
    flags += fmt::format(" --data {} --wide-bytes {}", name(check.data.kind),
                         size_text(check.data.bytes));
  const std::string calls = check.all ? "all" : std::to_string(std::max(checks, check.calls));
  return flags + fmt::format(" -c {} --seed {}", calls, check.seed);
}

}  // namespace ccl_tests
