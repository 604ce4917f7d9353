#include "src/backends/nccl/connect.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "src/backends/nccl/api.hpp"
#include "src/backends/nccl/communicator.hpp"
#include "src/core/host.hpp"

namespace ccl_tests::nccl_module {
namespace {

// NCCL takes two ranks for two hosts when NCCL_HOSTID differs, and then lets them share a GPU; they
// talk over sockets.
void prepare_sharing() {
  // Also a launcher's, whose children inherit it.
  constexpr std::string_view host_of_ours = "ccl-tests ";
  const std::string host = fmt::format("{}{} {}", host_of_ours, this_host(), getpid());
  constexpr std::array<std::pair<const char*, const char*>, 9> settings = {{
      {"NCCL_NET", "Socket"},
      {"NCCL_IB_DISABLE", "1"},
      {"NCCL_SOCKET_IFNAME", "lo"},
      {"NCCL_NET_PLUGIN", "none"},
      {"NCCL_CUMEM_ENABLE", "0"},
      {"NCCL_MNNVL_ENABLE", "0"},
      {"NCCL_NVLS_ENABLE", "0"},
      {"NCCL_MAX_CTAS", "1"},
      {"NCCL_MAX_NCHANNELS", "1"},
  }};
  const char* const given = std::getenv("NCCL_HOSTID");
  const bool inherited = given != nullptr && std::string(given).starts_with(host_of_ours);
  setenv("NCCL_HOSTID", host.c_str(), inherited ? 1 : 0);
  for (const auto& [name, value] : settings) setenv(name, value, 0);
}

void refuse_hosts_and_threads(ControlChannel& channel, double limit_s) {
  const std::string host = host_identity();
  const std::string mine = fmt::format("{} {}", host, getpid());
  const auto all = channel.all_gather(mine, limit_s);
  std::map<std::string, int> ranks_in;
  for (const std::string& process : all) {
    if (!process.starts_with(host + ' '))
      throw Unsupported(
          "--share-gpus: ranks that share GPUs talk over loopback; accepted: one host");
    if (++ranks_in[process] == 1) continue;
    throw Unsupported(
        "--share-gpus: NCCL lets only processes share a GPU; accepted: one rank for each (--np N, "
        "without -t and -g)");
  }
}

int capability_of(int device) {
  int major = 0;
  int minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device),
        "a device's attributes");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device),
        "a device's attributes");
  return 10 * major + minor;
}

}  // namespace

void set_environment(const BackendOptions& options) {
  if (!options.interface.empty()) setenv("NCCL_SOCKET_IFNAME", options.interface.c_str(), 1);
  if (options.share_devices) prepare_sharing();
}

std::unique_ptr<Communicator> connect(ControlChannel& channel, const BackendOptions& options) {
  if (options.device == nullptr || options.device->memory() != Memory::cuda)
    throw Unsupported("NCCL needs a GPU for every rank");
  if (!options.transport.empty() || !options.gloo_algorithm.empty())
    throw Unsupported(
        "--transport and --gloo-algorithm are Gloo's; NCCL takes environment variables (NCCL_NET, "
        "NCCL_ALGO, ...)");
  if (options.share_devices) refuse_hosts_and_threads(channel, options.init_timeout_s);
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
  const int device = options.device->index();
  const Setup setup{device,
                    capability_of(device),
                    channel.rank(),
                    channel.ranks(),
                    options.local_register,
                    options.cta_policy,
                    options.null_stream,
                    options.share_devices,
                    options.show_algorithm,
                    options.peers};
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
