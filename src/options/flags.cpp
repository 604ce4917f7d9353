#include "src/options/flags.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "src/core/version.hpp"
#include "src/options/command_line.hpp"
#include "src/options/program_texts.hpp"

namespace ccl_tests {
namespace {

// Reads the flags that ask for a text even if the rest of the line is wrong.
std::optional<std::string> asked_text(const Collective& collective, const ProgramFlags& flags,
                                      const CommandLine& line) {
  for (const GivenFlag& given : line.given)
    if (!given.flag->has_value() && given.flag->missing.empty()) given.flag->read("1");
  if (flags.help_all) return help_all(texts_of(collective), flags.set);
  if (flags.help) return help_page(texts_of(collective), flags.set);
  if (flags.version)
    return fmt::format("ccl-tests {}{}\n", version(),
                       *revision() == 0 ? "" : fmt::format(" ({})", revision()));
  return std::nullopt;
}

// Flags that say how nccl-tests' batch is to be made.
bool asks_for_batch(std::string_view flag) {
  constexpr std::string_view flags[] = {"-n", "-m", "-w", "-z", "-C", "-I", "-K", "-G"};
  return std::find(std::begin(flags), std::end(flags), flag) != std::end(flags);
}

Options defaults_of(const Collective& collective) {
  Options o;
  if (!collective.domain.ops.empty()) o.sweep.ops = {collective.domain.ops.front()};
  if (!collective.domain.types.empty()) o.sweep.types = {collective.domain.types.front()};
  o.sweep.mode = collective.mode;
  return o;
}

}  // namespace

AcceptedFlags taken_by(const Collective& c) {
  AcceptedFlags taken;
  taken.sweep = unless(c.domain.sweeps, "times how a job starts and has no rows");
  taken.types = unless(!c.needs.synchronizes, "moves no data");
  taken.sizes = !c.domain.sweeps       ? taken.sweep
                : c.needs.synchronizes ? "moves no data and has one row"
                : c.domain.fixed_bytes ? "sends messages of one fixed size"
                                       : "";
  taken.pairs = unless(c.domain.paired, "runs on all ranks: pingpong_perf runs on pairs");
  return taken;
}

bool is_in_nccl_tests(const Collective& c) {
  constexpr std::string_view names[] = {"all_gather",     "all_reduce", "alltoall",  "alltoallv",
                                        "broadcast",      "gather",     "hypercube", "reduce",
                                        "reduce_scatter", "scatter",    "sendrecv"};
  return std::find(std::begin(names), std::end(names), c.name) != std::end(names);
}

ProgramFlags::ProgramFlags(const Collective& collective)
    : ProgramFlags(collective, defaults_of(collective)) {}

ProgramFlags::ProgramFlags(const Collective& collective, Options given)
    : options(std::move(given)) {
  const AcceptedFlags taken = taken_by(collective);
  declare_sizes(set, options, taken);
  declare_sweep(set, options, taken, collective);
  declare_spec(set, options, taken, collective);
  declare_measure(set, options, taken);
  declare_check(set, options, taken, collective);
  declare_job(set, options);
  declare_library(set, options);
  declare_output(*this, taken);
  declare_gpus(set, options, taken);
}

Parsed parse_options(const Collective& collective, const std::vector<std::string>& arguments,
                     const GetVariable& environment) {
  ProgramFlags flags(collective);
  const CommandLine line = read_command_line(flags.set, arguments);
  if (auto print = asked_text(collective, flags, line)) return {flags.options, std::move(print)};
  Options& o = flags.options;
  read_flags(flags.set, line, fmt::format("{}_perf", collective.name));
  for (const GivenFlag& given : line.given) {
    o.given.push_back(given.flag->names.front());
    if (o.given.back() == "-w") o.measure.warmup_given = true;
    o.measure.batch = o.measure.batch || asks_for_batch(o.given.back());
  }
  for (std::string& name : read_variables(flags.set, environment))
    o.given.push_back(std::move(name));
  if (!o.matrix.file.empty()) o.spec.alltoallv_bytes = read_matrix(o.matrix);
  if (o.spec.routing.rule.kind == RoutingKind::trace) read_trace(o.spec.routing);
  if (collective.domain.sweeps) check_combinations(collective, o);
  return {o, std::nullopt};
}

const Collective& in_mode(const Collective& collective, std::string_view mode) {
  for (const Collective* form : collective.modes) {
    if (form->mode == mode) return *form;
  }
  return collective;
}

}  // namespace ccl_tests
