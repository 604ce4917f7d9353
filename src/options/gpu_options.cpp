// Options about devices and the memory that buffers lie in.
#include <fmt/format.h>

#include "src/options/option_declarations.hpp"

namespace ccl_tests {
namespace {

// nccl-tests has -M, --memory for its report; where buffers lie is asked for under the same name.
void set_memory(Options& o, const std::string& text) {
  const std::string value = parse_choice(text, {"0", "1", "auto", "host", "cuda"});
  if (value == "0" || value == "1") {
    o.memory_report = value == "1";
  } else if (value == "auto") {
    o.memory.reset();
  } else {
    o.memory = value == "host" ? Memory::host : Memory::cuda;
  }
}

// Flags of nccl-tests' device-side collectives: accepted where they ask for nothing.
void refuse_device_side(Declarations& d, const std::string& names, const std::string& off) {
  const std::string flag = names.substr(0, names.find(','));
  d.add(names, "N", fmt::format("device-side collectives: refused [{}]", off),
        [flag, off](const std::string& t) {
          parse_int(t, 0, max_int);
          if (t == off) return;
          throw Unsupported(fmt::format(
              "{}: collectives that kernels call themselves are not in this version; accepted: {}",
              flag, off));
        });
}

}  // namespace

void declare_devices(Declarations& d, Options& o) {
  d.add("-M,--memory", "0|1|NAME",
        "1: GPU memory report; host or cuda: where the buffers lie [0, the library's own]",
        [&](const std::string& t) { set_memory(o, t); });
  d.add("--expect-gpus", "N", "fail unless every host has so many [not checked]",
        [&](const std::string& t) { o.expect_gpus = parse_int(t, 0, 1024); });
  d.flag("--share-gpus", "several ranks on one GPU, for tests of correctness on few GPUs",
         [&] { o.backend_options.share_devices = true; });
  d.add("--library", "FILE", "the file of the library under test [the installed one]",
        [&](const std::string& t) { o.library = t; });
}

void declare_gpu_flags(Declarations& d, Options& o) {
  BackendOptions& b = o.backend_options;
  d.integer("-G,--cudagraph", o.graph_launches, 0, max_int,
            "capture the iterations in a CUDA graph and launch it N times; 0: no graph");
  d.flag01("-y,--stream_null", b.null_stream, "operations on the NULL stream (GPU only) [0]");
  d.integer("-R,--local_register", b.local_register, 0, 2,
            "1 register the buffers with NCCL, 2 as symmetric windows");
  d.integer("-x,--cta_policy", b.cta_policy, -1, 2,
            "NCCL's CTA policy: 0 default, 1 efficiency, 2 zero; -1: not set");
  refuse_device_side(d, "-D,--device_implementation", "0");
  refuse_device_side(d, "-V,--device_cta_count", "16");
  d.flag("--show-algorithm", "algorithm, protocol and channels that NCCL chose for each row",
         [&] { b.show_algorithm = true; });
}

std::vector<std::string> gpu_flags(const Options& o) {
  const BackendOptions& b = o.backend_options;
  std::vector<std::string> flags;
  const auto asked = [&](bool given, const char* flag) {
    if (given) flags.emplace_back(flag);
  };
  asked(o.graph_launches > 0, "-G");
  asked(b.null_stream, "-y");
  asked(b.local_register > 0, "-R");
  asked(b.cta_policy >= 0, "-x");
  asked(o.memory_report, "-M");
  asked(b.show_algorithm, "--show-algorithm");
  return flags;
}

void check_gpu_combinations(const Collective& collective, const Options& o) {
  if (o.per_iteration && o.per_iteration_skip > 0 && o.per_iteration_skip >= o.iterations) {
    throw UsageError(fmt::format("-K: {} of {} iterations would leave none; accepted: 0 to {}",
                                 o.per_iteration_skip, o.iterations, o.iterations - 1));
  }
  if (o.graph_launches == 0) return;
  if (o.blocking != 0)
    throw UsageError(
        fmt::format("-z: {} waits between operations, which a graph cannot; accepted "
                    "with -G: 0",
                    o.blocking));
  if (o.backend_options.null_stream)
    throw UsageError("-y: the NULL stream cannot be captured in a graph; accepted with -G: 0");
  if (collective.needs.host_waits)
    throw Unsupported(
        fmt::format("-G: {}_perf waits for parts of its calls on the host, which a graph cannot",
                    collective.name));
}

}  // namespace ccl_tests
