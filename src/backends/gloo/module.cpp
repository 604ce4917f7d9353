// ccl-gloo.so: what the registry opens.
#include <dlfcn.h>
#include <fmt/format.h>
#include <gloo/allreduce.h>
#include <gloo/config.h>

#include "src/backends/gloo/arithmetic.hpp"
#include "src/backends/gloo/connect.hpp"
#include "src/core/communicator.hpp"

namespace ccl_tests::gloo_module {
namespace {

std::string library_file() {
  Dl_info info{};
  dladdr(reinterpret_cast<const void*>(
             static_cast<void (*)(const gloo::AllreduceOptions&)>(&gloo::allreduce)),
         &info);
  return info.dli_fname != nullptr ? info.dli_fname : "";
}

class GlooBackend : public Backend {
 public:
  BackendInfo info() const override {
    return {
        .name = CCL_GLOO_NAME,
        .version = fmt::format("{}.{}.{}{}", GLOO_VERSION_MAJOR, GLOO_VERSION_MINOR,
                               GLOO_VERSION_PATCH, CCL_GLOO_COMMIT),
        .library = library_file(),
        // While a full mesh connects, each pair has a socket and may still have its listener; the
        // device has three more.
        .descriptors_per_rank = [](int ranks) { return 2 * static_cast<std::size_t>(ranks) + 4; },
        .scratch_factor = 1.0,
        // The caller's, and the transport's event thread: it polls while a caller holds a
        // connection's lock, and where that one waits for a CPU it does so until the scheduler's
        // next tick.
        .threads_per_rank = 2,
        .option_keys = {event_threads_key, reduce_key}};
  }
  void check(const BackendOptions& options) const override {
    batch_threads(options);
    reduce_choice(options);
  }
  std::unique_ptr<Communicator> connect(ControlChannel& channel,
                                        const BackendOptions& options) const override {
    return make_communicator(gloo_module::connect(channel, options), options);
  }
};

}  // namespace
}  // namespace ccl_tests::gloo_module

CCL_TESTS_BACKEND(ccl_tests::gloo_module::GlooBackend);
