// ccl-nccl.so: what the registry opens.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/backends/nccl/api.hpp"
#include "src/backends/nccl/communicator.hpp"
#include "src/backends/nccl/profiler.hpp"
#include "src/core/host.hpp"
#include "src/core/interfaces.hpp"

namespace ccl_tests::nccl_module {
namespace {

void set_missing(std::initializer_list<std::pair<const char*, const char*>> settings) {
  for (const auto& [variable, value] : settings) setenv(variable, value, 0);
}

// NCCL takes two ranks for two hosts when NCCL_HOSTID differs, and then lets them share a GPU; they
// talk over sockets.
void let_processes_share() {
  // Also a launcher's, whose children inherit it.
  constexpr std::string_view host_of_ours = "ccl-tests ";
  const std::string host = fmt::format("{}{} {}", host_of_ours, this_host(), getpid());
  const char* const given = std::getenv("NCCL_HOSTID");
  const bool inherited = given != nullptr && std::string(given).starts_with(host_of_ours);
  setenv("NCCL_HOSTID", host.c_str(), inherited ? 1 : 0);
  set_missing({{"NCCL_NET", "Socket"},
               {"NCCL_IB_DISABLE", "1"},
               {"NCCL_SOCKET_IFNAME", "lo"},
               {"NCCL_NET_PLUGIN", "none"},
               {"NCCL_CUMEM_ENABLE", "0"},
               {"NCCL_MNNVL_ENABLE", "0"},
               {"NCCL_NVLS_ENABLE", "0"},
               {"NCCL_MAX_CTAS", "1"},
               {"NCCL_MAX_NCHANNELS", "1"}});
}

// NCCL is told whole names: it takes no address, and "eth1" for the beginning of names.
void choose_interfaces(const std::string& interface) {
  const auto chosen = chosen_addresses("--interface", interface, interface_addresses());
  std::vector<std::string> names;
  for (const InterfaceAddress& one : chosen)
    if (std::find(names.begin(), names.end(), one.interface) == names.end())
      names.push_back(one.interface);
  setenv("NCCL_SOCKET_IFNAME", fmt::format("={}", fmt::join(names, ",")).c_str(), 1);
  if (std::all_of(chosen.begin(), chosen.end(), [](const auto& one) { return one.is_v6(); }))
    setenv("NCCL_SOCKET_FAMILY", "AF_INET6", 0);
}

// Returns how many of the channel's ranks give each text. Collective over the channel's ranks.
std::map<std::string, int> counts_of(ControlChannel& channel, const std::string& mine,
                                     double limit_s) {
  std::map<std::string, int> counts;
  for (const std::string& text : channel.all_gather(mine, limit_s)) ++counts[text];
  return counts;
}

// Returns what the header says of ranks that share a GPU. Collective over the channel's ranks.
// Throws Unsupported if NCCL cannot run these ranks.
std::string sharing_of(ControlChannel& channel, const BackendOptions& options) {
  const double limit_s = options.init_timeout_s;
  const std::string host = host_identity();
  if (counts_of(channel, host, limit_s).size() > 1)
    throw Unsupported("--share-gpus: the ranks are on several hosts; use one host");
  const auto processes = counts_of(channel, fmt::format("{} {}", host, getpid()), limit_s);
  const auto gpus = counts_of(channel, options.device->info().unique_id, limit_s);
  if (options.ranks_per_process == 1)
    return "--share-gpus: ranks share a GPU, over sockets on loopback: times mean nothing";
  if (processes.size() > 1)
    throw Unsupported(
        "--share-gpus: the ranks are threads of several processes; use -t N in one process, or "
        "--np N without -t and -g");
  constexpr int documented = 2;
  int most = 0;
  for (const auto& [gpu, ranks] : gpus) most = std::max(most, ranks);
  if (most == 1) return {};
  return fmt::format(
      "--share-gpus: {} ranks on a GPU at the same time: times are of a shared GPU{}", most,
      most > documented
          ? fmt::format("; NCCL documents {} ranks on a GPU, more may hang", documented)
          : "");
}

int capability_of(int device) {
  const auto attribute = [&](cudaDeviceAttr which) {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, which, device), "a device's attributes");
    return value;
  };
  return 10 * attribute(cudaDevAttrComputeCapabilityMajor) +
         attribute(cudaDevAttrComputeCapabilityMinor);
}

// Sets the variables that NCCL reads for these options; what the user has set stays, but for the
// interface. On the main thread, before others may read the environment. Throws UsageError if no
// interface is meant.
void set_environment(const BackendOptions& options) {
  if (!options.interface.empty()) choose_interfaces(options.interface);
  if (!options.share_devices) return;
  if (options.ranks_per_process == 1) return let_processes_share();
  // The kernels of all ranks have to run at the same time: each takes a part of the
  // multiprocessors, and no stream may wait for another rank's in a hardware queue (CUDA has 8 by
  // default, at most 32). NCCL reads NCCL_HOSTID once in a process: all threads have the same.
  set_missing({{"NCCL_MULTI_RANK_GPU_ENABLE", "1"},
               {"NCCL_NVLS_ENABLE", "0"},
               {"NCCL_MAX_CTAS", "8"},
               {"CUDA_DEVICE_MAX_CONNECTIONS", "32"}});
}

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
        // Since 2.22 each algorithm connects at its first use. All of them take 2 to 3 GiB on a GPU
        // of eight; nccl-tests keeps up to 5 GiB.
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

std::unique_ptr<Communicator> connect(ControlChannel& channel, const BackendOptions& options) {
  if (options.device == nullptr || options.device->memory() != Memory::cuda)
    throw Unsupported("NCCL needs a GPU for every rank");
  if (!options.transport.empty() || !options.gloo_algorithm.empty())
    throw Unsupported(
        "--transport and --gloo-algorithm are Gloo's; NCCL takes environment variables (NCCL_NET, "
        "NCCL_ALGO, ...)");
  const std::string sharing = options.share_devices ? sharing_of(channel, options) : std::string();
  options.device->use();
  ncclUniqueId id{};
  std::string bytes;
  if (channel.rank() == 0) {
    check(api().unique_id(&id), "ncclGetUniqueId");
    bytes.assign(id.internal, sizeof id.internal);
  }
  const std::string first = channel.all_gather(bytes, options.init_timeout_s).front();
  if (first.size() != sizeof id.internal) throw Error("rank 0 sent no NCCL id");
  std::memcpy(id.internal, first.data(), sizeof id.internal);
  const int device = options.device->info().index;
  Setup setup{options, device, capability_of(device), channel.rank(), channel.ranks(), sharing};
  setup.options.device = nullptr;  // the communicator may outlive it
  Token token = make_token();
  ncclComm_t comm = nullptr;
  ncclConfig_t config = config_of(setup);
  const ncclResult_t begun = api().init(&comm, setup.ranks, id, setup.rank, &config);
  if (begun == ncclInProgress && std::getenv("NCCL_COMM_BLOCKING") != nullptr)
    throw Unsupported(fmt::format(
        "NCCL_COMM_BLOCKING={} makes NCCL's calls return before they are done; unset it",
        std::getenv("NCCL_COMM_BLOCKING")));
  check(begun, "ncclCommInitRankConfig");
  return make_communicator(comm, setup, std::move(token));
}

}  // namespace ccl_tests::nccl_module

CCL_TESTS_BACKEND(ccl_tests::nccl_module::NcclBackend);
