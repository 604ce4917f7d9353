// ccl-gloo.so: what the registry opens.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gloo/allreduce.h>
#include <gloo/config.h>

#include "src/backends/gloo/communicator.hpp"

namespace ccl_tests::gloo_module {
namespace {

class GlooBackend : public Backend {
 public:
  std::string_view name() const override { return "gloo"; }
  std::string version() const override {
    return fmt::format("{}.{}.{}", GLOO_VERSION_MAJOR, GLOO_VERSION_MINOR, GLOO_VERSION_PATCH);
  }
  std::string library() const override {
    Dl_info info{};
    dladdr(reinterpret_cast<const void*>(
               static_cast<void (*)(const gloo::AllreduceOptions&)>(&gloo::allreduce)),
           &info);
    return info.dli_fname != nullptr ? info.dli_fname : "";
  }
  // While a full mesh connects, each pair has a socket and may still have its listener; the device
  // has three more.
  std::size_t descriptors_per_rank(int ranks) const override {
    return 2 * static_cast<std::size_t>(ranks) + 4;
  }
  // The caller's, and the transport's event thread: it polls while a caller holds a connection's
  // lock, and where that one waits for a CPU it does so until the scheduler's next tick.
  int threads_per_rank() const override { return 2; }
  std::unique_ptr<Communicator> connect(ControlChannel& channel,
                                        const BackendOptions& options) const override {
    return make_communicator(gloo_module::connect(channel, options), options);
  }
};

}  // namespace
}  // namespace ccl_tests::gloo_module

extern "C" {
__attribute__((visibility("default"))) int ccl_module_abi() { return ccl_tests::module_abi; }
__attribute__((visibility("default"))) const ccl_tests::Backend* ccl_module_backend() {
  static const ccl_tests::gloo_module::GlooBackend backend;
  return &backend;
}
}
