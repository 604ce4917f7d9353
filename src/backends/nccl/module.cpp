// ccl-nccl.so: what the registry opens.
#include <fmt/format.h>

#include "src/backends/nccl/api.hpp"
#include "src/backends/nccl/connect.hpp"
#include "src/backends/nccl/profiler.hpp"
#include "src/core/communicator.hpp"

namespace ccl_tests::nccl_module {
namespace {

class NcclBackend : public Backend {
 public:
  BackendInfo info() const override {
    return {
        .name = "nccl",
        .version = dotted(api().version),
        .library = api().file,
        .known_as =
            fmt::format("nccl-headers={} nccl-library={}", NCCL_VERSION_CODE, api().version),
        // Sockets of its channel and proxies.
        .descriptors_per_rank = [](int ranks) { return 4 * static_cast<std::size_t>(ranks) + 64; },
        .scratch_factor = 0.0,
        // Since 2.22 each algorithm connects at its first use. All of them take 2 to 3 GiB on a GPU of eight;
        // nccl-tests keeps up to 5 GiB.
        .taken_later = [](int ranks) { return ranks > 1 ? std::size_t{5} << 30 : 0; },
        .memories = {Memory::cuda}};
  }
  bool open_library(const std::string& file) const override {
    load(file);
    return true;
  }

  void check(const BackendOptions& options) const override {
    const auto needs = [](bool asked, const char* flag, bool there, const char* version,
                          const char* instead = "") {
      if (!asked || there) return;
      throw Unsupported(fmt::format("{}: needs NCCL {}, here is {}{}", flag, version,
                                    dotted(api().version), instead));
    };
    const auto since = [](int major, int minor) {
      return api().version >= NCCL_VERSION(major, minor, 0);
    };
    needs(options.local_register == 1, "-R 1", since(2, 19) && api().reg != nullptr, "2.19");
    needs(options.local_register == 2, "-R 2", since(2, 27) && api().window != nullptr, "2.27");
    needs(options.cta_policy >= 0, "-x", since(2, 27), "2.27");
    needs(options.show_algorithm, "--show-algorithm", since(2, 26), "2.26");
    needs(options.share_devices && options.ranks_per_process > 1, "--share-gpus with -t or -g",
          since(2, 30), "2.30", "; use --np N, or a newer --library FILE");
    if (options.show_algorithm) listen_to_nccl();
    set_environment(options);
  }

  std::unique_ptr<Communicator> connect(ControlChannel& channel,
                                        const BackendOptions& options) const override {
    load({});
    return nccl_module::connect(channel, options);
  }
};

}  // namespace
}  // namespace ccl_tests::nccl_module

CCL_TESTS_BACKEND(ccl_tests::nccl_module::NcclBackend);
