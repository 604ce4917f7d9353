// Flags about what is run: sizes, types, operations, roots, groups and pairs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/options/flags.hpp"
#include "src/options/values.hpp"

namespace ccl_tests {
namespace {

// "all" is what the program takes; `some` is empty if that is everything.
template <class T, class Parse>
auto list_or_all(std::span<const T> some, Parse parse) {
  return [some, parse](const std::string& text) {
    return text == "all" && !some.empty() ? std::vector<T>(some.begin(), some.end()) : parse(text);
  };
}

void set_roots(SweepOptions& s, const std::string& text) {
  s.all_roots = text == "all" || text == "-1";
  s.roots.clear();
  for (const std::string& item : split_list(s.all_roots ? "0" : text))
    s.roots.push_back(parse_int(item, 0, max_int, "all"));
}

void declare_groups(FlagSet& set, SweepOptions& s) {
  set.add_custom(
      "--group", "RULE",
      "split the ranks into groups that run at the same time: 'mod 2', 'div 4', 'and 0x7', "
      "'or 1', 'ranks 0,2;1,3', or local (one per host)",
      [&s](const std::string& text) { s.grouping = parse_split_rule(text); },
      [&s] { return setting_of(s.grouping.text); }, {.recorded = "group"});
  set.add(s.group_rows, "--group-rows", "0|1",
          "1: one row for each group, instead of one for the slowest", {.recorded = "group_rows"});
  // nccl-tests' variables: the mask wins over the rule, --group over both. --group compares the outcome.
  const auto declare_variable = [&](const char* name, const char* value, const char* help,
                                    SplitRule (*parse)(const std::string&)) {
    set.add_custom(
           name, value, help,
           [&s, parse](const std::string& text) {
             if (!s.grouping.splits()) s.grouping = parse(text);
           },
           [&s] { return setting_of(s.grouping.text); }, {.shared = false})
        .group = Group::variables;
  };
  declare_variable("NCCL_TESTS_SPLIT_MASK", "MASK",
                   "groups by rank & MASK (hexadecimal), if --group is not given",
                   parse_split_mask);
  declare_variable("NCCL_TESTS_SPLIT", "RULE", "groups as by --group, if neither is given",
                   parse_split_rule);
}

}  // namespace

void declare_sizes(FlagSet& set, Options& o, const AcceptedFlags& taken) {
  SweepOptions& s = o.sweep;
  set.begin(Group::sizes, taken.sizes);
  set.add(s.min_bytes, "-b,--minbytes", "SIZE", "smallest size; K, M, G, T are powers of 1024",
          parse_size, {.page = Page::what, .recorded = "min_bytes"});
  set.add(s.max_bytes, "-e,--maxbytes", "SIZE", "largest size", parse_size,
          {.page = Page::what, .recorded = "max_bytes"});
  set.add(s.step_factor, "-f,--stepfactor", "N",
          "multiply the size by N from row to row; 1: add -i instead", in_range(1, max_int),
          {.page = Page::what,
           .brief = "multiply the size by N from row to row",
           .recorded = "step_factor"});
  set.add(s.step_bytes, "-i,--stepbytes", "SIZE", "add SIZE from row to row instead of multiplying",
          [](const std::string& text) {
            const std::size_t bytes = parse_size(text);
            if (bytes == 0) throw UsageError("0 would never end; accepted: 1 and above");
            return bytes;
          },
          {.by_default = "1M with -f 1", .recorded = "step_bytes"});
  set.add(s.sizes, "--sizes", "LIST",
          "run exactly these sizes, for example 8,1K,3M; odd: 25 sizes next to powers of two, "
          "which find faults; replaces -b -e -f -i",
          parse_sizes, {.recorded = "sizes"});
  set.add(
      s.unalign, "-u,--unalign", "N", "shift both buffers by N elements",
      [](const std::string& text) {
        if (text.find_first_of(",x") != std::string::npos)
          throw UsageError(fmt::format(
              "{} is a mask of compute units, as rccl-tests takes it; accepted: by how many elements to shift both buffers",
              quote(text)));
        return in_range(0, 1 << 20)(text);
      },
      {.missing = taken.types, .recorded = "unalign"});
}

void declare_sweep(FlagSet& set, Options& o, const AcceptedFlags& taken, const Collective& c) {
  SweepOptions& s = o.sweep;
  set.begin(Group::what, taken.sweep);
  const bool any_type = c.domain.types.empty();
  set.add(s.types, "-d,--datatype", "LIST",
          any_type ? "int8 uint8 int32 uint32 int64 uint64 half float double bfloat16 f8e4m3 "
                     "f8e5m2, a comma list, or all"
                   : fmt::format("{}", fmt::join(all_names(c.domain.types), " ")),
          list_or_all(c.domain.types, parse_types),
          {.page = Page::what,
           .brief = any_type ? "float, half, bfloat16, int32, ... or all" : "",
           .missing = taken.types,
           .recorded = "types"});
  const bool theirs = is_in_nccl_tests(c);
  const bool any_op = c.domain.ops.empty();
  set.add(s.ops, "-o,--op", "LIST",
          any_op ? "sum prod max min avg mulsum, a comma list, or all; integers also have band "
                   "bor bxor"
                 : fmt::format("{}", fmt::join(all_names(c.domain.ops), " ")),
          list_or_all(c.domain.ops, parse_ops),
          {.page = c.domain.reduces ? Page::what : Page::none,
           .brief = any_op ? "sum, prod, max, min, avg, ... or all" : "",
           .missing = unless(theirs || c.domain.reduces, "reduces nothing"),
           .recorded = "ops"});
  set.add_custom(
      "-r,--root", "LIST",
      c.domain.rooted ? "root rank, a comma list, or all"
                      : fmt::format("root rank, a comma list, or all; {} ignores it", c.name),
      [&s](const std::string& text) { set_roots(s, text); },
      [&s] { return s.all_roots ? SettingValue("all") : setting_of(s.roots); },
      {.page = c.domain.rooted ? Page::what : Page::none,
       .missing = unless(theirs || c.domain.rooted, "has no root"),
       .recorded = "roots"});
  std::vector<std::string> modes = {std::string(c.mode)};
  for (const Collective* form : c.modes) modes.emplace_back(form->mode);
  set.add(
      s.mode, "--mode", "NAME", fmt::format("form: {}", fmt::join(modes, ", ")), one_of(modes),
      {.page = Page::what, .missing = unless(!c.mode.empty(), "has one form"), .recorded = "form"});
  set.begin(Group::what, taken.sweep.empty() ? taken.pairs : taken.sweep);
  set.add_custom(
      "--pairs", "LIST", "pairs of ranks, for example 0:1,2:3, or all",
      [&s](const std::string& text) { s.pairing = parse_pairs(text); },
      [&s] { return s.pairing.all ? SettingValue("all") : setting_of(s.pairing.list); },
      {.page = Page::what, .recorded = "pairs"});
  set.add(s.concurrent, "--concurrent", "0|1",
          "run pairs without a common rank at the same time, not one by one",
          {.page = Page::what, .recorded = "concurrent"});
  set.begin(Group::what, taken.sweep.empty()
                             ? unless(!c.domain.paired, "runs on pairs of ranks: use --pairs")
                             : taken.sweep);
  declare_groups(set, s);
  set.begin(Group::what);
  set.add(s.cycles, "-N,--run_cycles", "N", "repeat the whole run N times; 0: until stopped",
          in_range(0, max_int), {.recorded = "cycles"});
  set.add_custom(
      "-O,--out_of_place", "0|1", "measure only 0: in place, or 1: out of place",
      [&s, parse = zero_or_one()](const std::string& text) {
        s.placements = parse(text) ? Placements::out_of_place : Placements::in_place;
      },
      [&s] { return SettingValue(std::string(name(s.placements))); },
      {.by_default = "both",
       .missing = taken.sweep,
       .recorded = std::string(placements_setting),
       .rccl_tests = true});
  set.add(s.duration_s, "--duration", "TIME",
          "repeat the whole run until TIME is over: 90, 90s, 15m, 1h", duration(),
          {.by_default = "once", .missing = taken.sweep, .recorded = "duration_s"});
}

std::vector<std::size_t> sweep_sizes(const SweepOptions& o) {
  if (!o.sizes.empty()) return o.sizes;
  std::vector<std::size_t> sizes;
  for (std::size_t size = o.min_bytes; size <= o.max_bytes;) {
    sizes.push_back(size);
    const auto factor = static_cast<std::size_t>(o.step_factor);
    const std::size_t next = factor > 1 ? size * factor : size + o.step_bytes;
    if (next / (factor > 1 ? factor : 1) < size || next <= size) break;  // overflow, or 0 x factor
    size = next;
  }
  return sizes;
}

}  // namespace ccl_tests
