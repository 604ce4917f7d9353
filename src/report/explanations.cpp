#include "src/report/explanations.hpp"

#include <fmt/format.h>

#include <iterator>
#include <optional>

#include "src/options/program_texts.hpp"

namespace ccl_tests {
namespace {

using Kind = Explanation::Kind;

constexpr Explanation all[] = {
    {Kind::column, "size", "bytes of the larger buffer of a rank, after rounding to whole blocks"},
    {Kind::column, "count", "elements that each call passes"},
    {Kind::column, "type", "type of an element (-d)"},
    {Kind::column, "redop", "reduction (-o); none: the data are only moved"},
    {Kind::column, "root", "root rank (-r); -1: there is none"},
    {Kind::column, "out-of-place",
     "calls that read one buffer and write another; N/A: not measured (-O)"},
    {Kind::column, "in-place",
     "calls that read and write one buffer; if the operation cannot do that, a second measurement "
     "out of place; N/A: not measured (-O)"},
    {Kind::column, "time",
     "microseconds of one call. By default the median over three moments of the run or more, each "
     "the median over the stamps of a stream of calls (rooted operations: the mean; where ranks wait "
     "for CPUs: the 10th percentile); with -n the mean of a batch; both combined over ranks as -a says. "
     "With --samples a sample is the slowest rank's. With --passes the median of the passes' times"},
    {Kind::column, "cputime",
     "with -C instead of time: microseconds until a call has been issued; bandwidths still follow "
     "from the whole time"},
    {Kind::column, "algbw",
     "size / time in 1e9 bytes per second (hypercube: what a rank receives / time)"},
    {Kind::column, "busbw",
     "algbw x the share of the data that crosses the busiest link, in 1e9 bytes per second; compare "
     "it with a link's speed"},
    {Kind::column, "#wrong",
     "elements that differ from the expected result, over all ranks and checked calls; N/A: not "
     "checked"},
    {Kind::column, "i_min",
     "shortest iteration in microseconds; an iteration's time is the slowest rank's (-I)"},
    {Kind::column, "i_max", "longest iteration in microseconds (-I)"},
    {Kind::column, "i_p99", "99th percentile of the iterations in microseconds (-I)"},
    {Kind::column, "i_cv%", "standard deviation of the iterations, in percent of their mean (-I)"},
    {Kind::column, "timestamp", "when the row ended (-S)"},
    {Kind::stats_column, "+-%",
     "half width of the 95 % interval, in percent of the time. It covers what other moments of the run "
     "showed. -: too few stamps or samples"},
    {Kind::stats_column, "fast",
     "10th percentile of the stamps or samples, in microseconds of one call"},
    {Kind::stats_column, "stamps",
     "readings of the clock that the time comes from, each after one or more calls"},
    {Kind::stats_column, "skew%",
     "median time from the first rank's entry to the last one's, in percent of the median sample "
     "(--samples)"},
    {Kind::stats_column, "samples",
     "single operations that the time comes from, each after a barrier (--samples)"},
    {Kind::stats_column, "flags", "letters about the time, explained below"},
    {Kind::stats_column, "eff%",
     "shortest time that is possible on links with the ceiling's latency and bandwidth, in percent "
     "of the time (--ceiling)"},
    {Kind::flag, "=", "the interval is as narrow as --precision asks for"},
    {Kind::flag, "~",
     "the interval is wider, or there is none: the row's time ran out, or would not have been enough"},
    {Kind::flag, "B",
     "bimodal, two speeds: the 90th percentile of the stamps or samples is over twice the 10th",
     "bimodal"},
    {Kind::flag, "D",
     "drift: the intervals of the first and the last third of the stamps or samples do not touch",
     "drift"},
    {Kind::flag, "P",
     "page faults while the clock ran: one or more that waited for a disk, or more than 16 and more "
     "than one for ten stamps",
     "page faults"},
    {Kind::flag, "N",
     "noise: other processes or a hypervisor took CPUs from the ranks often enough to move the time",
     "noise"},
    {Kind::flag, "S",
     "skew: skew% is above 10, so that the time is more the barrier's than the operation's (--samples)",
     "skew"},
    {Kind::flag, "r",
     "resolution: a sample takes less time than 100 readings of the clock (--samples of rooted "
     "operations)",
     "clock"},
    {Kind::flag, "U",
     "unstable: times of the run's moments (by over a tenth) or passes differ by more than the widest of their intervals",
     "unstable"},
    {Kind::flag, "T",
     "tick: at least 3 of 10 calls wait for the kernel's next tick, since ranks wait for CPUs "
     "(docs/TROUBLESHOOTING.md)",
     "tick"},
    {Kind::row_line, "group", "number of the row's group of ranks (--group-rows)"},
    {Kind::row_line, "pair", "ranks of the row's pair (--pairs)"},
    {Kind::row_line, "algorithm",
     "the algorithm that the library says it chose (--show-algorithm)"},
    {Kind::row_line, "reproducible",
     "whether repeated calls gave the same bits, and the bits' digest (--reproducible)"},
    {Kind::row_line, "beside",
     "how the operation and a load on each rank slow each other, against alone, with 95 % intervals (--beside)"},
    {Kind::row_line, "steps",
     "shares of the time that were spent on telling sizes, moving the payload and packing; means over "
     "ranks"},
    {Kind::footer, "Out of bounds values",
     "ranks with wrong elements, counted for each placement of each row, as nccl-tests counts them"},
    {Kind::footer, "Avg bus bandwidth", "mean of all busbw of the table, in 1e9 bytes per second"},
    {Kind::footer, "Verdict",
     "the most serious of: OK, UNRELIABLE (over half of the times are not within +-10 %, a hypervisor took CPUs during over half of "
     "them, a limit is not decided, or --inject spoiled nothing that shows), "
     "SLOW (a limit is missed), VARIES (--reproducible), WRONG (wrong elements), INCOMPLETE (the run did not reach its end)"},
    {Kind::footer, "Correct", "wrong elements, and how many of all calls were verified (-c)"},
    {Kind::footer, "Reliable",
     "which times have an interval wider than +-10 %, and the widest; intervals cover what other moments of the run "
     "showed, and hold for most other runs (ccl_compare compares runs)"},
    {Kind::footer, "Bits",
     "with --reproducible: rows whose bits are the same whoever has which data (order-independent), in every call, "
     "on every rank, in and out of place (stable), or not (vary)"},
    {Kind::footer, "Soak",
     "with --duration: how long, how many operations were verified, the largest share of wrong ones that none in so many leaves "
     "possible, and whether memory grew"},
    {Kind::footer, "Late rank",
     "the rank that entered last in more than half of the samples, by at least 2 % of a sample, if "
     "chance does not explain it (--samples)"},
    {Kind::footer, "Pairs",
     "with --pairs: what judges the hosts by the times between them, which the matrix above has"},
    {Kind::footer, "Normal",
     "does a size take over 1.25 times what alpha + size / bandwidth, fitted to its sweep, says; "
     "with --ceiling the largest busbw over the link's bandwidth"},
    {Kind::footer, "Next", "what to do about it"},
};

// Returns lines about this program alone.
std::string of_program(const Collective& collective) {
  std::string text;
  if (collective.domain.paired)
    text += "Times are of one message, one way; bandwidths of one direction.\n";
  if (collective.needs.synchronizes)
    text += "No data are moved: sizes and bandwidths are 0. The check is by time.\n";
  if (collective.domain.rooted)
    text +=
        "The operation is rooted: time is the mean of the stream, not its median; of samples the median.\n";
  return text;
}

}  // namespace

std::span<const Explanation> explanations() { return all; }

std::vector<Explanation> explanations(const Collective& collective) {
  std::vector<Explanation> some(std::begin(all), std::end(all));
  std::erase_if(some, [&](const Explanation& e) {
    if (e.name == "steps") return !collective.needs.step_times;
    return collective.domain.paired ? e.name == "group" : e.name == "pair" || e.name == "Pairs";
  });
  return some;
}

std::string_view title(Kind kind) {
  constexpr std::string_view titles[] = {"Columns", "Columns of --stats", "Letters of flags",
                                         "Lines below a row", "Lines below the table"};
  return titles[static_cast<std::size_t>(kind)];
}

std::string explain(const Collective& collective) {
  std::string text =
      fmt::format("{}_perf: how each column and line of the output comes about\n", collective.name);
  text += of_program(collective);
  constexpr std::size_t width = 14;  // of most names; a longer one has a line of its own
  const std::string indent(width + 3, ' ');
  std::optional<Kind> kind;
  for (const Explanation& e : explanations(collective)) {
    if (kind != e.kind) text += fmt::format("\n{}\n", title(e.kind));
    kind = e.kind;
    const std::string start = e.name.size() <= width ? fmt::format("  {:{}} ", e.name, width)
                                                     : fmt::format("  {}\n{}", e.name, indent);
    text += wrapped(start, e.text, indent.size(), indent);
  }
  return text + "\ndocs/METHOD.md has the reasons.\n";
}

}  // namespace ccl_tests
