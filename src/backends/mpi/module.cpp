// ccl-mpi-openmpi.so, ccl-mpi-mpich.so, ccl-mpi-abi.so: what the registry opens. One source, one
// module for each MPI ABI.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "src/backends/mpi/communicator.hpp"
#include "src/backends/mpi/library.hpp"
#include "src/core/communicator.hpp"
#include "src/core/error.hpp"

#ifndef CCL_MPI_LARGEST_COUNT  // of a test's module: a small one
#define CCL_MPI_LARGEST_COUNT largest_count
#endif

namespace ccl_tests::mpi_module {
namespace {

// The ranks of `channel`, in its order, as numbers in MPI's world, whatever started the
// processes.
std::vector<int> world_ranks(ControlChannel& channel, double limit_s) {
  int rank = 0;
  int world = 0;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  check(MPI_Comm_size(MPI_COMM_WORLD, &world), "MPI_Comm_size");
  if (world < channel.ranks())
    throw Unsupported(
        fmt::format("MPI says that its world has {} rank{}, the job has {}: start it with this "
                    "library's mpirun, or srun --mpi=pmix",
                    world, world == 1 ? "" : "s", channel.ranks()));
  std::vector<int> ranks;
  for (const std::string& text : channel.all_gather(std::to_string(rank), limit_s))
    ranks.push_back(std::stoi(text));
  return ranks;
}

// Collective over these ranks only: others may be in other groups, or in none.
MPI_Comm make_group(const std::vector<int>& ranks) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Group group = MPI_GROUP_NULL;
  check(MPI_Comm_group(MPI_COMM_WORLD, &world), "MPI_Comm_group");
  check(MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &group),
        "MPI_Group_incl");
  MPI_Comm comm = MPI_COMM_NULL;
  constexpr int tag = 0;
  check(MPI_Comm_create_group(MPI_COMM_WORLD, group, tag, &comm), "MPI_Comm_create_group");
  MPI_Group_free(&group);
  MPI_Group_free(&world);
  return comm;
}

// Returns the level that the user or the program asks for; empty: start() chooses one.
std::string level_of(const BackendOptions& options) {
  constexpr const char* needed = "multiple";
  if (!options.several_threads || options.mpi_thread == needed) return options.mpi_thread;
  if (options.mpi_thread.empty()) return needed;
  throw Unsupported(
      fmt::format("--mpi-thread {}: this program calls MPI from several threads of a "
                  "rank at once; accepted: {}",
                  options.mpi_thread, needed));
}

class MpiBackend : public Backend {
 public:
  BackendInfo info() const override {
    return {.name = CCL_MPI_NAME,
            .version = library_version(),
            .library = library_file(),
            // Connections are made as messages need them: one per peer.
            .descriptors_per_rank = [](int ranks) { return static_cast<std::size_t>(ranks) + 64; },
            .scratch_factor = 1.0,
#ifdef SMPI_H  // the platform model's time, not this machine's
            .threads_per_rank = 0,
#endif
            .memories =
                cuda_aware() ? std::vector{Memory::host, Memory::cuda} : std::vector{Memory::host},
            .one_rank_per_process = true};
  }
  void start(const BackendOptions& options) const override { mpi_module::start(level_of(options)); }
  void finish() const override { mpi_module::finish(); }
  std::string from_process_0(const std::string& bytes, int processes) const override {
    return mpi_module::from_process_0(bytes, processes);
  }
  std::unique_ptr<Communicator> connect(ControlChannel& channel,
                                        const BackendOptions& options) const override {
    if (!options.transport.empty() || !options.gloo_algorithm.empty())
      throw Unsupported(
          "--transport and --gloo-algorithm are Gloo's; MPI takes its own (mpirun --mca ..., "
          "environment variables)");
    if (!options.interface.empty())
      throw Unsupported(
          "--interface is for NCCL and Gloo; MPI takes its own (Open MPI: mpirun --mca "
          "btl_tcp_if_include NAME, MPICH: mpirun -iface NAME)");
    mpi_module::start(level_of(options));
    return make_communicator(make_group(world_ranks(channel, options.init_timeout_s)),
                             options.device, CCL_MPI_LARGEST_COUNT);
  }
};

}  // namespace
}  // namespace ccl_tests::mpi_module

CCL_TESTS_BACKEND(ccl_tests::mpi_module::MpiBackend);
