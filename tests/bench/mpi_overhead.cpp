// What the suite adds to a library call: all_reduce through the harness's own path (spec, Call,
// module, batch) against a bare loop over MPI_Allreduce, on the same buffers with the same
// rotation, in interleaved pairs.
//
//   mpirun -n 2 mpi_overhead_openmpi [pairs]      sizes 8 B, 64 KiB, 4 MiB
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "src/backends/mpi/communicator.hpp"
#include "src/backends/mpi/library.hpp"
#include "src/core/barrier.hpp"
#include "src/core/operation.hpp"
#include "src/devices/host_memory.hpp"
#include "src/measure/batch.hpp"
#include "src/run/slots.hpp"
#include "tests/bench/paired.hpp"

namespace {

using ccl_tests::Call;

class Contestant {
 public:
  Contestant(std::size_t bytes, int iterations)
      : count_(bytes / sizeof(float)), iterations_(iterations) {
    MPI_Comm_dup(MPI_COMM_WORLD, &bare_);
    MPI_Comm copy = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    ours_ = ccl_tests::mpi_module::make_communicator(copy);
    operation_ =
        std::make_unique<ccl_tests::LibraryCall<&ccl_tests::Communicator::all_reduce>>(*ours_);
    MPI_Comm_rank(bare_, &self_.rank);
    MPI_Comm_size(bare_, &self_.ranks);
    const std::size_t size = std::max<std::size_t>(4 * ccl_tests::buffer_bytes(bytes, 0), 1 << 20);
    send_ = ccl_tests::HostBuffer(size);
    recv_ = ccl_tests::HostBuffer(size);
    slots_ = ccl_tests::plan_slots(bytes, 0, size, static_cast<std::size_t>(iterations));
    for (std::size_t k = 0; k < slots_.count; ++k) {
      calls_.push_back({.send = send(k),
                        .recv = recv(k),
                        .count = count_,
                        .type = ccl_tests::DataType::float32,
                        .op = ccl_tests::ReduceOp::sum,
                        .self = self_,
                        .send_counts = {},
                        .send_offsets = {},
                        .recv_counts = {},
                        .recv_offsets = {},
                        .peer = -1});
    }
    std::fill_n(send_.data(), size, std::byte{0});
    std::fill_n(recv_.data(), size, std::byte{0});
  }
  ~Contestant() { MPI_Comm_free(&bare_); }
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;

  double time_ours() {
    return time([&](std::size_t k) { operation_->run(calls_[k % calls_.size()]); });
  }

  double time_bare() {
    return time([&](std::size_t k) {
      MPI_Allreduce(send(k), recv(k), static_cast<int>(count_), MPI_FLOAT, MPI_SUM, bare_);
    });
  }

  int rank() const { return self_.rank; }
  int ranks() const { return self_.ranks; }

 private:
  float* send(std::size_t k) {
    return reinterpret_cast<float*>(send_.data() + slots_.offset(k % slots_.count));
  }
  float* recv(std::size_t k) {
    return reinterpret_cast<float*>(recv_.data() + slots_.offset(k % slots_.count));
  }

  // Seconds per operation, the mean over ranks.
  double time(const std::function<void(std::size_t)>& issue) {
    const ccl_tests::BatchActions actions{
        .issue = issue,
        .wait = [&] { ours_->wait(); },
        .barrier = [&] { ccl_tests::dissemination_barrier(*ours_, self_); },
        .now = ccl_tests::monotonic_seconds};
    double mine = ccl_tests::bench::elsewhere_on_stack(++turn_, [&] {
      return ccl_tests::time_batch({iterations_, 1, ccl_tests::Blocking::none}, actions).wall;
    });
    double sum = 0;
    MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, bare_);
    return sum / self_.ranks;
  }

  MPI_Comm bare_ = MPI_COMM_NULL;
  std::unique_ptr<ccl_tests::Communicator> ours_;
  std::unique_ptr<ccl_tests::Operation> operation_;  // as the spec makes it
  ccl_tests::GroupRank self_;
  std::size_t count_;
  int iterations_;
  std::size_t turn_ = 0;
  ccl_tests::HostBuffer send_, recv_;
  ccl_tests::Slots slots_;
  std::vector<Call> calls_;  // one per slot, made before the clock starts, as in the harness
};

}  // namespace

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? std::max(8, std::atoi(argv[1])) : 40;
  ccl_tests::mpi_module::start();
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
    const auto ratios = ccl_tests::bench::time_pairs(
        pairs, [&] { return c.time_ours(); }, [&] { return c.time_bare(); });
    if (c.rank() == 0) ccl_tests::bench::print(c.ranks(), s.bytes, ratios);
  }
  ccl_tests::mpi_module::finish();
  return 0;
}
