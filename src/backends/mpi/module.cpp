// ccl-mpi-openmpi.so, ccl-mpi-mpich.so: what the registry opens. One source, one module for each
// MPI ABI.
#include <fmt/format.h>

#include "src/backends/mpi/communicator.hpp"
#include "src/backends/mpi/library.hpp"

namespace ccl::mpi_module {
namespace {

// MPI's world in the job's rank order, whatever started the processes.
MPI_Comm job_communicator(const Bootstrap& bootstrap) {
  int world = 0;
  check(MPI_Comm_size(MPI_COMM_WORLD, &world), "MPI_Comm_size");
  if (world != bootstrap.ranks()) {
    throw Unsupported(
        fmt::format("MPI says that its world has {} rank{}, the job has {}: start it with this "
                    "library's mpirun, or srun --mpi=pmix",
                    world, world == 1 ? "" : "s", bootstrap.ranks()));
  }
  MPI_Comm comm = MPI_COMM_NULL;
  check(MPI_Comm_split(MPI_COMM_WORLD, 0, bootstrap.rank(), &comm), "MPI_Comm_split");
  return comm;
}

class MpiBackend : public Backend {
 public:
  std::string_view name() const override { return CCL_MPI_NAME; }
  std::string version() const override { return library_version(); }
  std::string library() const override { return library_file(); }
  // Connections are made as messages need them: one per peer.
  std::size_t files_per_rank(int ranks) const override {
    return static_cast<std::size_t>(ranks) + 64;
  }
  bool one_rank_per_process() const override { return true; }
  void start() const override { mpi_module::start(); }
  void finish() const override { mpi_module::finish(); }
  std::string from_process_0(const std::string& bytes, int processes) const override {
    return mpi_module::from_process_0(bytes, processes);
  }
  std::unique_ptr<Communicator> connect(Bootstrap& bootstrap,
                                        const BackendOptions& options) const override {
    if (!options.transport.empty() || !options.gloo_algorithm.empty())
      throw Unsupported(
          "--transport and --gloo-algorithm are Gloo's; MPI takes its own (mpirun --mca ..., "
          "environment variables)");
    mpi_module::start();
    return make_communicator(job_communicator(bootstrap));
  }
};

}  // namespace
}  // namespace ccl::mpi_module

extern "C" {
__attribute__((visibility("default"))) int ccl_module_abi() { return ccl::module_abi; }
__attribute__((visibility("default"))) const ccl::Backend* ccl_module_backend() {
  static const ccl::mpi_module::MpiBackend backend;
  return &backend;
}
}
