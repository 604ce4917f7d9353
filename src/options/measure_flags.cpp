// Flags about timing and verification.
#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/options/flags.hpp"
#include "src/options/values.hpp"

namespace ccl_tests {
namespace {

// Warm-up and verified calls of a row are one loop: their sum fits into an int.
constexpr int most_untimed_calls = 1'000'000'000;

std::size_t parse_wide_bytes(const std::string& text) {
  constexpr std::size_t least = std::size_t{1} << 20, most = std::size_t{1} << 30;
  const std::size_t bytes = parse_size(text);
  if (bytes < least || bytes > most)
    throw UsageError(quote(text) + " is out of range; accepted: 1M to 1G");
  return bytes;
}

void add_inject(FlagSet& set, JobOptions& job, const char* help, const FlagProperties& properties) {
  set.add_custom(
      "--inject", "FAULT", help,
      [&job](const std::string& text) { job.inject = parse_fault(text); },
      [&job] { return job.inject ? SettingValue(text_of(*job.inject)) : SettingValue(); },
      properties);
}

}  // namespace

void declare_inject(FlagSet& set, JobOptions& job) {
  add_inject(set, job, "spoil results on purpose, as all_reduce_perf --inject does",
             {.by_default = "none"});
}

void declare_data(FlagSet& set, CheckOptions& check, const FlagProperties& properties) {
  set.add_custom(
      "--data", "exact|wide|special",
      "the floating-point values of reductions: exact: every order of additions gives the same bits; wide: the "
      "type's whole range, where arithmetic is asked; special: infinities, NaN, -0 and subnormal numbers, too",
      [&check](const std::string& text) {
        const auto kind = verify::parse_data_kind(text);
        if (parse_type(text))  // getopt takes --data for nccl-tests' --datatype
          throw UsageError("'" + text +
                           "' is a type, which -d takes; accepted: exact, wide, special");
        if (!kind) throw UsageError(unknown_name("data", text, {"exact", "wide", "special"}));
        check.data.kind = *kind;
      },
      [&check] { return SettingValue(std::string(name(check.data.kind))); }, properties);
}

void declare_measure(FlagSet& set, Options& o, const AcceptedFlags& taken) {
  MeasureOptions& m = o.measure;
  set.begin(Group::measuring, taken.sweep);
  set.add(m.iterations, "-n,--iters", "N",
          "time one batch of N iterations and print the mean, as nccl-tests does; 0: check only",
          in_range(0, max_int),
          {.page = Page::measured,
           .brief = "time N iterations, as nccl-tests does; 0: check only",
           .by_default = "see --precision",
           .recorded = "iterations"});
  set.add(m.aggregate, "-m,--agg_iters", "N", "operations per iteration", in_range(1, 1 << 20),
          {.recorded = "aggregate"});
  set.add(m.warmup, "-w,--warmup_iters", "N", "run exactly N untimed iterations first",
          in_range(0, most_untimed_calls),
          {.by_default = "20 calls and 1 ms", .recorded = "warmup"});
  set.add(m.samples, "--samples", "",
          "time single operations, each after a barrier, until the slowest rank is done; show how "
          "far apart the ranks begin",
          {.recorded = "samples"});
  set.add(m.precision, "--precision", "PERCENT",
          "end a row when its 95 % interval is within +-PERCENT of the time, or after 0.3 s",
          percent(0.01, 100),
          {.page = Page::measured,
           .brief = "end a row when its 95 % interval is +-PERCENT, or after 0.3 s",
           .by_default = "2",
           .recorded = "precision"});
  set.add(m.time_budget_s, "--time-budget", "TIME",
          "let all rows together take TIME (30s, 5m) to reach --precision, instead of 0.3 s each",
          duration(), {.by_default = "0.3 s for each time", .recorded = "time_budget_s"});
  set.add(
      o.sweep.passes, "--passes", "N",
      "measure the whole sweep N times, in shuffled order except the last time; each row is the "
      "median of its N times",
      in_range(1, 1000), {.recorded = "passes"});
  set.add(
      m.row_time_s, "--row-time", "SECONDS",
      "run fewer than -n iterations, and fewer rounds of --beside, if a row would take more than "
      "SECONDS; 0: never",
      at_least(0), {.recorded = "row_time_s"});
  set.add(m.average, "-a,--average", "N",
          "combine the ranks' times: 0 rank 0's, 1 mean, 2 minimum, 3 maximum", in_range(0, 3),
          {.recorded = "average"});
  set.add(m.blocking, "-z,--blocking", "N",
          "when to wait: 0 once, after all operations; 1 after each operation, then a barrier; 2 "
          "after each operation; 3 after each iteration, then an untimed barrier",
          in_range(0, 3), {.recorded = "blocking"});
  set.add(m.cpu_time, "-C,--report_cputime", "0|1",
          "1: stop the clock when the last operation is issued, not when it is complete",
          {.recorded = "cpu_time"});
  set.add(m.per_iteration, "-I,--per_iter_timing", "0|1",
          "1: add columns with statistics of single iterations", {.recorded = "per_iteration"});
  set.add(m.per_iteration_skip, "-K,--per_iter_skip", "N",
          "leave the first N iterations out of those statistics", in_range(0, max_int),
          {.recorded = "per_iteration_skip"});
  set.add(m.cache, "--cache", "NAME",
          "where timed calls find their data; warm: in L2; rotate: beyond L2; cold: beyond the "
          "last-level cache",
          name_of<CacheUse>({CacheUse::warm, CacheUse::rotate, CacheUse::cold}),
          {.by_default = "warm; on GPUs rotate", .missing = taken.types, .recorded = "cache"});
  set.add(
      m.beside, "--beside", "NAME",
      "after each row's times, run its operation beside a load on each rank, and say what each does "
      "to the other; cpu: a matrix product; memory: a stream beyond the last-level cache; copy: "
      "copies between host and GPU",
      name_of<LoadKind>({LoadKind::cpu, LoadKind::memory, LoadKind::copy}),
      {.by_default = "no load", .recorded = "beside"});
}

void declare_check(FlagSet& set, Options& o, const AcceptedFlags& taken, const Collective& c) {
  const auto operation = parse_operation(c.name);
  const std::string no_reduction =
      unless(operation && reducing_operations.has(*operation),
             c.domain.reduces ? "is made of several operations" : "reduces nothing");
  set.begin(Group::checking, taken.sweep);
  const auto read = [&check = o.check](const std::string& text) {
    check.all = text == "all";
    check.calls = check.all ? 1 : parse_int(text, 0, most_untimed_calls, "all");
  };
  const auto show = [&check = o.check]() -> SettingValue {
    return check.all ? SettingValue("all") : setting_of(check.calls);
  };
  set.add_custom("-c,--check", "N|all",
                 "verify N calls before timing; 0: none; all: every call, timed ones too", read,
                 show,
                 {.page = Page::measured,
                  .brief = "verify N calls before timing; 0: none; all: timed calls too",
                  .recorded = "check"});
  set.add(o.check.seed, "--seed", "N", "seed of the data patterns", in_range(0, max_int),
          {.recorded = "seed"});
  declare_data(set, o.check, {.missing = no_reduction, .recorded = "data"});
  set.add(o.check.data.bytes, "--wide-bytes", "SIZE",
          "with --data wide or special: after so many bytes the values repeat", parse_wide_bytes,
          {.missing = no_reduction, .recorded = "wide_bytes"});
  add_inject(set, o.job,
             "spoil results on purpose, to see that verification finds it. FAULT is "
             "KIND[:rank=R|all][:at=SIZE][:call=N][:every=N][:phase=untimed|timed]; ccl_selftest "
             "--list describes each KIND",
             {.missing = taken.types, .recorded = "inject"});
  set.add(
      o.check.reproducible, "--reproducible", "",
      "repeat each row's reduction on data whose sums are rounded; exit 7 unless its bits are the same in "
      "every call, on every rank, in and out of place",
      {.missing = no_reduction, .recorded = "reproducible"});
  set.add(o.check.digests, "--digests", "FILE",
          "with --reproducible: compare the results' digests with those in FILE, and add new ones",
          parse_file, {.missing = no_reduction, .shared = false, .file_use = FileUse::written});
}

}  // namespace ccl_tests
