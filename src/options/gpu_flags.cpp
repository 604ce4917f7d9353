// Flags about devices and the memory that buffers lie in.
#include <fmt/format.h>

#include "src/core/error.hpp"
#include "src/options/flags.hpp"
#include "src/options/values.hpp"

namespace ccl_tests {
namespace {

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
         [off] { return off; })
      .on(Page::unlisted)
      .per_process();
}

}  // namespace

void declare_gpus(FlagSet& set, Options& o, const AcceptedFlags& taken) {
  BackendOptions& b = o.backend;
  set.begin(Group::gpus);
  const bool reports = taken.sweep.empty();
  set.add_custom(
         "-M,--memory", reports ? "0|1|NAME" : "NAME",
         reports ? "1: report GPU memory; host or cuda: where buffers lie"
                 : "where buffers lie: host, cuda or auto",
         [&gpu = o.gpu, reports](const std::string& text) { set_memory(gpu, text, reports); },
         [&gpu = o.gpu] { return setting_of(gpu.memory); })
      .by_default(reports ? "0, the library's choice" : "auto")
      .offers(memory_values(reports))
      .recorded("memory")
      .repeatable = true;  // a report and a place
  set.add_custom("-M", "0|1", "", {}, [&gpu = o.gpu] { return setting_of(gpu.memory_report); })
      .recorded("memory_report")
      .needs_gpu();
  set.add(o.gpu.expect_gpus, "--expect-gpus", "N", "fail unless every host has N GPUs",
          in_range(0, 1024))
      .by_default("not checked")
      .recorded("expect_gpus")
      .per_process();
  set.add(b.share_devices, "--share-gpus", "",
          "allow several ranks per GPU; their times are those of a shared GPU", zero_or_one())
      .recorded("share_gpus");
  set.begin(Group::gpus, taken.sweep);
  set.add(o.measure.graph_launches, "-G,--cudagraph", "N",
          "capture the iterations in a CUDA graph and launch it N times; 0: off",
          in_range(0, max_int))
      .recorded("graph_launches")
      .needs_gpu();
  set.add(b.null_stream, "-y,--stream_null", "0|1", "1: use the NULL stream", zero_or_one())
      .recorded("null_stream")
      .needs_gpu();
  set.add(b.local_register, "-R,--local_register", "N",
          "register buffers with NCCL; 0: no, 1: plain, 2: as symmetric windows", in_range(0, 2))
      .recorded("local_register")
      .needs_gpu();
  set.add(b.cta_policy, "-x,--cta_policy", "N",
          "NCCL's CTA policy: 0 default, 1 efficiency, 2 zero; -1: not set", in_range(-1, 2))
      .recorded("cta_policy")
      .needs_gpu();
  set.add(b.show_algorithm, "--show-algorithm", "",
          "print the algorithm, protocol and channels that NCCL chose for each row", zero_or_one())
      .recorded("show_algorithm")
      .needs_gpu();
  refuse_device_side(set, "-D,--device_implementation", "0");
  refuse_device_side(set, "-V,--device_cta_count", "16");
  set.begin(Group::variables);
  set.add(o.gpu.first_device, "NCCL_TESTS_DEVICE", "N", "the first device of this process",
          in_range(0, 1024))
      .recorded("first_device")
      .per_process();
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
