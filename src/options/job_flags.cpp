// Flags about ranks, how they are launched, and the library under test.
#include "src/backends/registry.hpp"
#include "src/core/error.hpp"
#include "src/core/interfaces.hpp"
#include "src/core/quote.hpp"
#include "src/options/flags.hpp"
#include "src/options/values.hpp"

namespace ccl_tests {
namespace {

// A name, or the folder of a gang of pods.
Parser<std::string> launcher_name() {
  const std::vector<std::string> names = {"auto",  "torchrun", "env",        "mpi",
                                          "slurm", "local",    "gang:FOLDER"};
  const auto read = [names](const std::string& text) {
    constexpr std::string_view gang = "gang:";
    return text.starts_with(gang) && text.size() > gang.size() ? text : parse_name(text, names);
  };
  return {read, names};
}

// The text as it is: which interfaces there are differs from host to host.
Parser<std::string> interfaces() {
  return {[](const std::string& text) {
    parse_interfaces(text);
    return text;
  }};
}

}  // namespace

void declare_job(FlagSet& set, Options& o) {
  constexpr int most = 4096;
  JobOptions& j = o.job;
  set.begin(Group::ranks);
  set.add(j.threads, "-t,--nthreads", "N", "N ranks as threads of this process", in_range(1, most))
      .by_default("all GPUs, else 2 to 4 by cores")
      .on(Page::where)
      .recorded("threads")
      .per_process();
  set.add(j.ranks_per_thread, "-g,--ngpus", "N", "N ranks for each of those threads",
          in_range(1, most))
      .by_default("1")
      .recorded("ranks_per_thread")
      .per_process();
  set.add(j.local_processes, "--np", "N", "N ranks as local processes", in_range(1, most))
      .by_default("off")
      .on(Page::where)
      .recorded("local_processes")
      .per_process();
  set.add(
         j.launcher, "--launcher,--bootstrap", "NAME",
         "take ranks from launcher NAME: auto, torchrun, env, mpi, slurm, local or gang:FOLDER; also "
         "--bootstrap",
         launcher_name())
      .recorded("launcher_choice")
      .per_process();
  set.add(
         j.bind, "--bind", "NAME",
         "bind each rank to CPUs; short: an even share, over Gloo where CPUs are short; numa: one NUMA "
         "node; auto: one core per busy thread; none",
         one_of({"short", "none", "numa", "auto"}))
      .recorded("bind");
  set.add(o.backend.init_timeout_s, "--init-timeout", "SECONDS",
          "fail a wait during start-up after SECONDS", above_0())
      .recorded("init_timeout_s")
      .per_process();
  set.add(j.timeout_s, "-T,--timeout", "SECONDS",
          "fail a wait after SECONDS + 1 s per MB it moves; 0: never", at_least(0))
      .on(Page::measured)
      .recorded("timeout_s")
      .per_process();
  set.add(j.parallel_init, "-p,--parallel_init", "0|1",
          "no effect: threads always initialise at the same time", zero_or_one())
      .on(Page::unlisted)
      .recorded("parallel_init")
      .per_process();
}

void declare_library(FlagSet& set, Options& o) {
  BackendOptions& b = o.backend;
  set.begin(Group::library);
  // Ranks compare the backends that they opened, not their names.
  set.add(o.job.backend, "--backend", "NAME", "nccl, gloo, mpi, loopback or a module's path",
          any_text())
      .by_default("nccl if a GPU, else gloo")
      .offers(known_backends())
      .on(Page::where)
      .recorded("backend_choice")
      .per_process()
      .reads_file()
      .or_file = true;
  set.add(o.job.library, "--library", "FILE",
          "test the shared library FILE instead of the installed one", any_text())
      .recorded("library_choice")
      .per_process()
      .reads_file();
  set.add(b.interface, "--interface", "NAME",
          "use interface NAME: eth0, =eth0 (exactly), eth (all that begin so), ^lo,docker (all "
          "others), a list or an address",
          interfaces())
      .by_default("NCCL_SOCKET_IFNAME, else the library's choice")
      .recorded("interface")
      .per_process();
  set.add(b.mpi_thread, "--mpi-thread", "LEVEL",
          "MPI's thread level: single, funneled, serialized or multiple",
          one_of({"single", "funneled", "serialized", "multiple"}))
      .by_default("single on one host, else funneled")
      .recorded("mpi_thread");
  set.add(b.transport, "--transport", "NAME", "Gloo: tcp or ibverbs", one_of({"tcp", "ibverbs"}))
      .by_default("tcp")
      .recorded("transport");
  set.add(b.gloo_algorithm, "--gloo-algorithm", "NAME", "Gloo's all_reduce: ring or bcube",
          one_of({"ring", "bcube"}))
      .by_default("Gloo's choice")
      .recorded("gloo_algorithm");
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
           for (const auto& [key, value] : b.own) {
             if (!all.empty()) all += ',';
             all += key;
             all += '=';
             all += value;
           }
           return setting_of(all);
         })
      .recorded("backend_options")
      .repeatable = true;
}

}  // namespace ccl_tests
