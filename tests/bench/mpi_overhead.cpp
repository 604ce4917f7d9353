// What the suite adds to a library call: all_reduce through the harness's own path (take_block,
// OperationWorkload, module) against a bare loop over MPI_Allreduce on MPI_COMM_WORLD, in interleaved
// pairs, on the main thread of processes that asked for MPI_THREAD_SINGLE. The loop runs on the same
// buffers with the same rotation, and once more as most users write it, on one buffer.
//
//   mpirun -n 2 mpi_overhead_openmpi [pairs]      sizes 8 B, 64 KiB, 4 MiB
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "src/backends/mpi/communicator.hpp"
#include "src/backends/mpi/library.hpp"
#include "src/core/communicator.hpp"
#include "tests/bench/harness_calls.hpp"
#include "tests/bench/paired.hpp"

namespace {

class Contestant {
 public:
  Contestant(std::size_t bytes, int iterations)
      : count_(bytes / sizeof(float)), iterations_(iterations) {
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    ours_ = ccl_tests::mpi_module::make_communicator(copy);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    calls_ = std::make_unique<ccl_tests::bench::HarnessCalls>(*ours_, rank_, ranks_, bytes,
                                                              static_cast<std::size_t>(iterations));
  }

  double time_ours() {
    return over_ranks(
        ccl_tests::bench::elsewhere_on_stack(++turn_, [&] { return calls_->time(); }));
  }

  // A loop as a user would write it, on the first `slots` of the same buffers.
  double time_bare(std::size_t slots) {
    return over_ranks(ccl_tests::bench::elsewhere_on_stack(++turn_, [&] {
      calls_->barrier();
      std::size_t slot = 0;
      const double start = ccl_tests::monotonic_seconds();
      for (int k = 0; k < iterations_; ++k) {
        MPI_Allreduce(calls_->send(slot), calls_->recv(slot), static_cast<int>(count_), MPI_FLOAT,
                      MPI_SUM, MPI_COMM_WORLD);
        if (++slot == slots) slot = 0;
      }
      return (ccl_tests::monotonic_seconds() - start) / iterations_;
    }));
  }

  std::size_t slots() const { return calls_->slots(); }
  int rank() const { return rank_; }
  int ranks() const { return ranks_; }

 private:
  double over_ranks(double mine) {
    double sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return sum / ranks_;
  }

  std::unique_ptr<ccl_tests::Communicator> ours_;
  std::unique_ptr<ccl_tests::bench::HarnessCalls> calls_;
  int rank_ = 0, ranks_ = 1;
  std::size_t count_;
  int iterations_;
  std::size_t turn_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? std::max(8, std::atoi(argv[1])) : 40;
  ccl_tests::mpi_module::start("single");
  struct Size {
    std::size_t bytes;
    int iterations;
  };
  for (const Size& s : {Size{8, 20000}, Size{64 << 10, 1000}, Size{4 << 20, 20}}) {
    Contestant c(s.bytes, s.iterations);
    if (c.rank() == 0 && s.bytes == 8)
      ccl_tests::bench::print_header(
          fmt::format("all_reduce float sum over {}", ccl_tests::mpi_module::library_version()),
          pairs);
    for (const std::size_t slots : {c.slots(), std::size_t{1}}) {
      const auto ratios = ccl_tests::bench::time_pairs(
          pairs, [&] { return c.time_ours(); }, [&] { return c.time_bare(slots); });
      if (c.rank() == 0) ccl_tests::bench::print(c.ranks(), s.bytes, ratios);
      if (c.slots() == 1) break;
    }
  }
  ccl_tests::mpi_module::finish();
  return 0;
}
