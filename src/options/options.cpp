#include "src/options/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "src/options/alltoallv_options.hpp"
#include "src/options/option_declarations.hpp"
#include "src/options/values.hpp"

namespace ccl_tests {
namespace {

void declare_ranks(Declarations& d, Options& o) {
  d.add("-t,--nthreads", "N",
        "ranks on threads of this process [the whole machine: 2 to 4 by its cores]",
        [&](const std::string& t) { o.threads = parse_int(t, 1, 4096); });
  d.add("-g,--ngpus", "N", "ranks per thread, each on a thread of its own [1]",
        [&](const std::string& t) { o.ranks_per_thread = parse_int(t, 1, 4096); });
  d.integer("--np", o.local_processes, 1, 4096, "start N local processes as ranks");
  d.flag01("-p,--parallel_init", o.parallel_init,
           "threads initialise at the same time [0; here always]");
  d.add("--bootstrap", "NAME",
        "how ranks find each other: auto, torchrun, env, mpi, slurm, or local (alone) [auto]",
        [&](const std::string& t) {
          o.bootstrap = parse_choice(t, {"auto", "torchrun", "env", "mpi", "slurm", "local"});
        });
  d.add("--backend", "NAME", "auto, nccl, gloo, mpi, loopback, or the path of a module [auto]",
        [&](const std::string& t) { o.backend = t; });
  d.add("--interface", "NAME", "network interface for the library under test",
        [&](const std::string& t) { o.backend_options.interface = t; });
  d.add("--transport", "NAME", "Gloo: tcp or ibverbs [tcp]", [&](const std::string& t) {
    o.backend_options.transport = parse_choice(t, {"tcp", "ibverbs"});
  });
  d.add("--gloo-algorithm", "NAME", "all_reduce: ring, bcube or halving_doubling [Gloo's choice]",
        [&](const std::string& t) {
          o.backend_options.gloo_algorithm = parse_choice(t, {"ring", "bcube", "halving_doubling"});
        });
  d.seconds("--init-timeout", o.init_timeout_s, "limit of every wait while starting");
}

void declare_groups(Declarations& d, Options& o) {
  d.add("--group", "RULE",
        "groups that run at once: 'mod 2', 'div 4', 'and 0x7', 'or 1', 'ranks 0,2;1,3', or local "
        "(one for each host) [none]",
        [&](const std::string& t) { o.grouping = parse_split_rule(t); });
  d.flag01("--group-rows", o.group_rows, "a row for each group instead of the slowest one's [0]");
}

void declare_run(Declarations& d, Options& o) {
  d.integer("-N,--run_cycles", o.cycles, 0, max_int,
            "runs of all that is asked for; 0: until stopped");
  d.seconds("-T,--timeout", o.timeout_s, "limit of one wait, beside 1 s per MB it moves; 0: none");
}

void declare_sizes(Declarations& d, Options& o) {
  d.size("-b,--minbytes", o.min_bytes, "smallest size [32M]");
  d.size("-e,--maxbytes", o.max_bytes, "largest size [32M]");
  d.add("-i,--stepbytes", "SIZE", "additive step [1M, when -f 1]", [&](const std::string& t) {
    o.step_bytes = parse_size(t);
    if (o.step_bytes == 0) throw UsageError("0 would never end; accepted: 1 and above");
  });
  d.integer("-f,--stepfactor", o.step_factor, 1, max_int,
            "multiplicative step; 1: additive by -i; given neither, sizes double");
  d.add("--sizes", "LIST", "exactly these sizes, for example 8,1K,3M", [&](const std::string& t) {
    o.sizes.clear();
    for (const std::string& item : split_list(t)) o.sizes.push_back(parse_size(item));
  });
  d.add("-u,--unalign", "N", "shift both buffers by N elements [0]", [&](const std::string& t) {
    o.unalign = static_cast<std::size_t>(parse_int(t, 0, 1 << 20));
  });
}

void declare_measurement(Declarations& d, Options& o) {
  d.integer("-n,--iters", o.iterations, 0, max_int, "timed iterations; 0: check only");
  d.integer("-m,--agg_iters", o.aggregate, 1, 1 << 20, "operations per iteration");
  d.integer("-w,--warmup_iters", o.warmup, 0, max_int, "untimed iterations per row");
  d.integer("-c,--check", o.check, 0, max_int, "checked calls before timing; 0: check nothing");
  d.integer("-a,--average", o.average, 0, 3, "time over ranks: 0 rank 0, 1 average, 2 min, 3 max");
  d.integer("-z,--blocking", o.blocking, 0, 3,
            "1 wait and barrier after each operation, 2 wait, 3 barrier outside the time");
  d.flag01("-I,--per_iter_timing", o.per_iteration,
           "statistics of single iterations; without a GPU each is waited for [0]");
  d.integer("-K,--per_iter_skip", o.per_iteration_skip, 0, max_int,
            "first iterations left out of the -I statistics");
  d.flag01("-C,--report_cputime", o.cpu_time,
           "report the time until the last operation was issued [0]");
  d.seconds("--row-time", o.row_time_s,
            "fewer iterations when a row's would take longer; 0: never");
  d.add("--seed", "N", "of the data patterns [1]", [&](const std::string& t) {
    o.seed = static_cast<std::uint64_t>(parse_int(t, 0, max_int));
  });
}

// What a program that does not take everything takes, for --help.
template <class T>
std::string choice(std::span<const T> some) {
  std::vector<std::string_view> names;
  for (const T value : some) names.push_back(name(value));
  return fmt::format("{} [{}]", fmt::join(names, " "), names.front());
}

void declare_what(Declarations& d, Options& o, const Collective& collective) {
  if (!collective.domain.ops.empty()) o.ops = {collective.domain.ops.front()};
  if (!collective.domain.types.empty()) o.types = {collective.domain.types.front()};
  d.add("-o,--op", "LIST",
        collective.domain.ops.empty()
            ? "sum prod max min avg mulsum, a comma list, or all; on integers also band bor bxor "
              "[sum]"
            : choice(collective.domain.ops),
        [&](const std::string& t) {
          const auto some = collective.domain.ops;
          o.ops =
              t == "all" && !some.empty() ? std::vector(some.begin(), some.end()) : parse_ops(t);
        });
  d.add("-d,--datatype", "LIST",
        collective.domain.types.empty()
            ? "int8 uint8 int32 uint32 int64 uint64 half float double bfloat16 f8e4m3 f8e5m2, a "
              "comma list, or all [float]"
            : choice(collective.domain.types),
        [&](const std::string& t) {
          const auto some = collective.domain.types;
          o.types =
              t == "all" && !some.empty() ? std::vector(some.begin(), some.end()) : parse_types(t);
        });
  d.add("-r,--root", "LIST", "root rank, a comma list, or all [0]", [&](const std::string& t) {
    o.all_roots = t == "all" || t == "-1";
    o.roots.clear();
    for (const std::string& item : split_list(o.all_roots ? "0" : t))
      o.roots.push_back(parse_int(item, 0, max_int));
  });
}

void declare_files(Declarations& d, Options& o, const Collective& collective) {
  d.add("-J,--output_file", "FILE",
        collective.sweeps ? "also write FILE: .jsonl, .json (nccl-tests' schema) or .csv"
                          : "also write FILE: .jsonl",
        [&](const std::string& t) {
          if (t.empty()) throw UsageError("''; accepted: the name of a file");
          o.output_file = t;
        });
  d.add("--heartbeat", "FILE", "write the 10 s heartbeat there instead of stderr",
        [&](const std::string& t) { o.heartbeat_file = t; });
}

void declare_rows(Declarations& d, Options& o) {
  d.flag01("-S,--report_timestamps", o.timestamps, "date and time behind each row [0]");
  d.add("--min-busbw", "SIZE:GB/s", "exit 6 when a row of SIZE is slower; repeatable",
        [&](const std::string& t) { o.min_busbw.push_back(parse_limit(t, "GB/s")); });
  d.add("--max-time", "SIZE:us", "exit 6 when a row of SIZE takes longer; repeatable",
        [&](const std::string& t) { o.max_time.push_back(parse_limit(t, "us")); });
}

// nccl-tests' variables; the mask wins over the operation, --group over both.
void read_grouping(Options& o, const GetVariable& environment) {
  if (o.grouping.splits()) return;
  const std::pair<const char*, SplitRule (*)(const std::string&)> variables[] = {
      {"NCCL_TESTS_SPLIT_MASK", parse_split_mask}, {"NCCL_TESTS_SPLIT", parse_split_rule}};
  for (const auto& [variable, parse] : variables) {
    const auto text = environment(variable);
    if (!text) continue;
    try {
      o.grouping = parse(*text);
    } catch (const UsageError& e) {
      throw UsageError(fmt::format("{}: {}", variable, e.what()));
    }
    return;
  }
}

void read_environment(Options& o, const GetVariable& environment) {
  const auto number = [&](const char* variable, double lowest) -> std::optional<double> {
    const auto text = environment(variable);
    if (!text) return std::nullopt;
    try {
      return parse_number(*text, lowest);
    } catch (const UsageError& e) {
      throw UsageError(std::string(variable) + ": " + e.what());
    }
  };
  o.min_average_busbw = number("NCCL_TESTS_MIN_BW", 0);
  if (const auto device = environment("NCCL_TESTS_DEVICE")) {
    try {
      o.first_device = parse_int(*device, 0, 1024);
    } catch (const UsageError& e) {
      throw UsageError(std::string("NCCL_TESTS_DEVICE: ") + e.what());
    }
  }
  read_alltoallv_options(environment, o.spec);
  read_grouping(o, environment);
}

void check_combinations(Options& o, const CLI::App& app) {
  const bool steps_given = app.count("-i") + app.count("-f") > 0;
  if (!steps_given) o.step_factor = 2;
  if (!o.sizes.empty() && (app.count("-b") + app.count("-e") > 0 || steps_given)) {
    throw UsageError("--sizes: stands instead of -b, -e, -i and -f; accepted: one or the other");
  }
  if (o.sizes.empty() && o.min_bytes > o.max_bytes) {
    throw UsageError(
        fmt::format("-b: {} is more than -e {}; accepted: -b up to -e", o.min_bytes, o.max_bytes));
  }
  if (o.sizes.empty() && o.min_bytes == 0 && o.max_bytes > 0 && o.step_factor > 1) {
    throw UsageError("-b: 0 cannot be multiplied; accepted: with -i SIZE, or 1 and above");
  }
  constexpr std::size_t most_sizes = 1'000'000;
  if (o.sizes.empty() && o.step_factor == 1 &&
      (o.max_bytes - o.min_bytes) / o.step_bytes >= most_sizes) {
    throw UsageError(
        fmt::format("-i: steps of {} B from {} to {} are too many; accepted: up to {} sizes",
                    o.step_bytes, o.min_bytes, o.max_bytes, most_sizes));
  }
  if (o.ranks_per_process() > 4096) {
    throw UsageError(
        fmt::format("-t: {} x -g {} is too many ranks; accepted: up to 4096 per process",
                    o.threads.value_or(1), o.ranks_per_thread.value_or(1)));
  }
}

std::string version_text() { return "ccl-tests " CCL_VERSION "\n"; }

void check_algorithm(const Collective& collective, const Options& o) {
  if (!collective.needs.own_buffers || o.backend_options.gloo_algorithm != "halving_doubling")
    return;
  throw Unsupported(fmt::format(
      "--gloo-algorithm: Gloo makes an object of halving_doubling for each buffer, which all ranks "
      "must do together, and {}_perf has buffers of its own; accepted: ring, bcube",
      collective.name));
}

}  // namespace

Parsed parse_options(const Collective& collective, const std::vector<std::string>& arguments,
                     const GetVariable& environment) {
  Parsed parsed;
  Options& o = parsed.options;
  CLI::App app(
      collective.sweeps
          ? fmt::format("Tests and times {}: verified results, algorithm and bus bandwidth.",
                        collective.name)
          : std::string("Times how a job starts: its meeting, its library, the first operations."),
      fmt::format("{}_perf", collective.name));
  app.get_formatter()->column_width(34);
  bool version = false;
  Declarations d(app);
  if (collective.sweeps) {
    declare_sizes(d, o);
    declare_what(d, o, collective);
    declare_program(d, o, collective);
    declare_measurement(d, o);
    declare_rows(d, o);
    declare_groups(d, o);
  }
  declare_run(d, o);
  declare_ranks(d, o);
  declare_files(d, o, collective);
  declare_devices(d, o);
  if (collective.sweeps) {
    declare_gpu_flags(d, o);
    app.add_flag(
        "--self-check", o.self_check,
        "hold this program's specification against the textbook for 1 to 9 ranks, and exit");
  }
  app.add_flag("--version", version, "print the version and exit");
  app.footer(
      "Exit codes: 0 passed, 2 usage, 3 unsupported here, 4 a library or a peer failed, 5 timed "
      "out,\n"
      "6 slower than a limit, 7 wrong data, 8 inconclusive; 128 + signal when interrupted.");
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  try {
    app.parse(reversed);
  } catch (const CLI::CallForHelp&) {
    parsed.print = app.help();
    return parsed;
  } catch (const CLI::ExtrasError&) {
    throw UsageError(
        fmt::format("'{}': not what this program takes; accepted: the flags that --help lists",
                    fmt::join(app.remaining(), " ")));
  } catch (const CLI::ParseError& e) {
    std::string line = e.what();
    std::replace(line.begin(), line.end(), '\n', ' ');
    const bool missing = dynamic_cast<const CLI::ArgumentMismatch*>(&e) != nullptr;
    throw UsageError(line + "; accepted: " +
                     (missing ? "one value behind the flag" : "the flags that --help lists"));
  }
  if (version) {
    parsed.print = version_text();
    return parsed;
  }
  if (collective.sweeps) {
    check_combinations(o, app);
    check_operations(collective, o);
    check_gpu_combinations(collective, o);
    check_algorithm(collective, o);
  }
  read_environment(o, environment);
  return parsed;
}

const Collective& in_mode(const Collective& collective, std::string_view mode) {
  for (const Collective* form : collective.modes) {
    if (form->mode == mode) return *form;
  }
  return collective;
}

std::vector<std::size_t> sweep_sizes(const Options& o) {
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
