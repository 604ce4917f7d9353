// Flags about ranks, how they are launched, the library under test, devices and the memory that buffers lie in.
#include <fmt/format.h>

#include "src/core/error.hpp"
#include "src/core/interfaces.hpp"
#include "src/core/quote.hpp"
#include "src/options/flags.hpp"
#include "src/options/values.hpp"

namespace ccl_tests {
namespace {

// The text as it is: which interfaces there are differs from host to host.
Parser<std::string> interfaces() {
  return {[](const std::string& text) {
    parse_interfaces(text);
    return text;
  }};
}

// nccl-tests has -M, --memory for its report; where buffers lie is asked for under the same name.
// Programs without rows report nothing.
std::vector<std::string> memory_values(bool reports) {
  if (!reports) return {"auto", "host", "cuda"};
  return {"0", "1", "auto", "host", "cuda"};
}

void set_memory(GpuOptions& gpu, const std::string& text, bool reports) {
  const std::string value = parse_name(text, memory_values(reports));
  if (value == "0" || value == "1") {
    gpu.memory_report = value == "1";
  } else if (value == "auto") {
    gpu.memory.reset();
  } else {
    gpu.memory = value == "host" ? Memory::host : Memory::cuda;
  }
}

// Flags of nccl-tests' device-side collectives are accepted if they ask for nothing.
void refuse_device_side(FlagSet& set, const std::string& names, const std::string& off) {
  const std::string flag = names.substr(0, names.find(','));
  set.add_custom(
      names, "N", "device-side collectives of nccl-tests: not supported yet (exit 3)",
      [flag, off](const std::string& text) {
        parse_int(text, 0, max_int);
        if (text == off) return;
        throw Unsupported(fmt::format(
            "{}: collectives that kernels call themselves are not in this version; accepted: {}",
            flag, off));
      },
      [off] { return off; }, {.page = Page::unlisted, .shared = false});
}

}  // namespace

void declare_job(FlagSet& set, Options& o) {
  constexpr int most = 4096;
  JobOptions& j = o.job;
  set.begin(Group::ranks);
  set.add(j.threads, "-t,--nthreads", "N", "N ranks as threads of this process", in_range(1, most),
          {.page = Page::where,
           .by_default = "all GPUs, else 2 to 4 by cores",
           .recorded = "threads",
           .shared = false});
  set.add(j.ranks_per_thread, "-g,--ngpus", "N", "N ranks for each of those threads",
          in_range(1, most), {.by_default = "1", .recorded = "ranks_per_thread", .shared = false});
  set.add(
      j.local_processes, "--np", "N", "N ranks as local processes", in_range(1, most),
      {.page = Page::where, .by_default = "off", .recorded = "local_processes", .shared = false});
  set.add(
      j.launcher, "--launcher,--bootstrap", "NAME",
      "take ranks from launcher NAME: auto, torchrun, env, mpi, slurm or local; also --bootstrap",
      one_of({"auto", "torchrun", "env", "mpi", "slurm", "local"}),
      {.recorded = "launcher_choice", .shared = false});
  set.add(
      j.bind, "--bind", "NAME",
      "bind each rank to CPUs; short: an even share, over Gloo where CPUs are short; numa: one NUMA "
      "node; auto: one core per busy thread; none",
      one_of({"short", "none", "numa", "auto"}), {.recorded = "bind"});
  set.add(o.backend.init_timeout_s, "--init-timeout", "SECONDS",
          "fail a wait during start-up after SECONDS", above_0(),
          {.recorded = "init_timeout_s", .shared = false});
  set.add(j.timeout_s, "-T,--timeout", "SECONDS",
          "fail a wait after SECONDS + 1 s per MB it moves; 0: never", at_least(0),
          {.page = Page::measured, .recorded = "timeout_s", .shared = false});
  set.add(j.parallel_init, "-p,--parallel_init", "0|1",
          "no effect: threads always initialise at the same time",
          {.page = Page::unlisted, .recorded = "parallel_init", .shared = false});
}

void declare_library(FlagSet& set, Options& o) {
  BackendOptions& b = o.backend;
  set.begin(Group::library);
  // Ranks compare the backends that they opened, not their names.
  set.add(o.job.backend, "--backend", "NAME", "nccl, gloo, mpi, loopback or a module's path",
          any_text(),
          {.page = Page::where,
           .by_default = "nccl if a GPU, else gloo",
           .recorded = "backend_choice",
           .shared = false,
           .file_use = FileUse::read});
  set.add(o.job.library, "--library", "FILE",
          "test the shared library FILE instead of the installed one", any_text(),
          {.recorded = "library_choice", .shared = false, .file_use = FileUse::read});
  set.add(b.interface, "--interface", "NAME",
          "use interface NAME: eth0, =eth0 (exactly), eth (all that begin so), ^lo,docker (all "
          "others), a list or an address",
          interfaces(),
          {.by_default = "NCCL_SOCKET_IFNAME, else the library's choice",
           .recorded = "interface",
           .shared = false});
  set.add(b.mpi_thread, "--mpi-thread", "LEVEL",
          "MPI's thread level: single, funneled, serialized or multiple",
          one_of({"single", "funneled", "serialized", "multiple"}),
          {.by_default = b.several_threads ? "multiple" : "single on one host, else funneled",
           .recorded = "mpi_thread"});
  set.add(b.transport, "--transport", "NAME", "Gloo: tcp or ibverbs", one_of({"tcp", "ibverbs"}),
          {.by_default = "tcp", .recorded = "transport"});
  set.add(b.gloo_algorithm, "--gloo-algorithm", "NAME", "Gloo's all_reduce: ring or bcube",
          one_of({"ring", "bcube"}), {.by_default = "Gloo's choice", .recorded = "gloo_algorithm"});
  set.add_custom(
      "--backend-option", "KEY=VALUE", "set the backend's own option KEY; repeatable",
      [&b](const std::string& text) {
        const std::size_t equals = text.find('=');
        if (equals == 0 || equals == std::string::npos)
          throw UsageError(quote(text) + " is not KEY=VALUE");
        b.own[text.substr(0, equals)] = text.substr(equals + 1);
      },
      [&b] {
        std::string all;
        for (const auto& [key, value] : b.own)
          all += fmt::format("{}{}={}", all.empty() ? "" : ",", key, value);
        return setting_of(all);
      },
      {.recorded = "backend_options", .repeatable = true});
}

void declare_gpus(FlagSet& set, Options& o, const AcceptedFlags& taken) {
  BackendOptions& b = o.backend;
  set.begin(Group::gpus);
  const bool reports = taken.sweep.empty();
  set.add_custom(
      "-M,--memory", reports ? "0|1|NAME" : "NAME",
      reports ? "1: report GPU memory; host or cuda: where buffers lie"
              : "where buffers lie: host, cuda or auto",
      [&gpu = o.gpu, reports](const std::string& text) { set_memory(gpu, text, reports); },
      [&gpu = o.gpu] { return setting_of(gpu.memory); },
      {.by_default = reports ? "0, the library's choice" : "auto",
       .recorded = "memory",
       .repeatable = true});  // a report and a place
  set.add_custom("-M", "0|1", "", {}, [&gpu = o.gpu] { return setting_of(gpu.memory_report); },
                 {.recorded = "memory_report", .gpu = true});
  set.add(o.gpu.expect_gpus, "--expect-gpus", "N", "fail unless every host has N GPUs",
          in_range(0, 1024),
          {.by_default = "not checked", .recorded = "expect_gpus", .shared = false});
  set.add(b.share_devices, "--share-gpus", "",
          "allow several ranks per GPU; their times are those of a shared GPU",
          {.recorded = "share_gpus"});
  set.begin(Group::gpus, taken.sweep);
  set.add(o.measure.graph_launches, "-G,--cudagraph", "N",
          "capture the iterations in a CUDA graph and launch it N times; 0: off",
          in_range(0, max_int), {.recorded = "graph_launches", .gpu = true});
  set.add(b.null_stream, "-y,--stream_null", "0|1", "1: use the NULL stream",
          {.recorded = "null_stream", .gpu = true});
  set.add(b.local_register, "-R,--local_register", "N",
          "register buffers with NCCL; 0: no, 1: plain, 2: as symmetric windows", in_range(0, 2),
          {.recorded = "local_register", .gpu = true});
  set.add(b.cta_policy, "-x,--cta_policy", "N",
          "NCCL's CTA policy: 0 default, 1 efficiency, 2 zero; -1: not set", in_range(-1, 2),
          {.recorded = "cta_policy", .gpu = true});
  set.add(b.show_algorithm, "--show-algorithm", "",
          "print the algorithm, protocol and channels that NCCL chose for each row",
          {.recorded = "show_algorithm", .gpu = true});
  refuse_device_side(set, "-D,--device_implementation", "0");
  refuse_device_side(set, "-V,--device_cta_count", "16");
  set.begin(Group::variables);
  set.add(o.gpu.first_device, "NCCL_TESTS_DEVICE", "N", "the first device of this process",
          in_range(0, 1024), {.recorded = "first_device", .shared = false});
}

std::vector<std::string> gpu_flags(const Options& options) {
  Options defaults;
  Options asked = options;
  FlagSet default_set;
  FlagSet asked_set;
  declare_gpus(default_set, defaults, {});
  declare_gpus(asked_set, asked, {});
  std::vector<std::string> names;
  for (std::size_t i = 0; i < asked_set.all().size(); ++i) {
    const Flag& flag = asked_set.all()[i];
    if (flag.gpu && flag.show() != default_set.all()[i].show()) names.push_back(flag.names.front());
  }
  return names;
}

}  // namespace ccl_tests
