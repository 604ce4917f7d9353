// What the suite adds to a library call: all_reduce through the harness's own path (spec, Call,
// module, batch) against a bare loop over gloo::allreduce with options made per call, on the same
// buffers with the same rotation, in one process, in interleaved pairs whose order alternates.
// Beside it bare against bare, which is what this machine can resolve.
//
//   gloo_overhead [pairs]     ranks are threads: 1, 2, 4; sizes 8 B, 64 KiB, 4 MiB
#include <fmt/format.h>
#include <gloo/allreduce.h>
#include <gloo/math.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "src/backends/gloo/communicator.hpp"
#include "src/bootstrap/control.hpp"
#include "src/bootstrap/thread_ranks.hpp"
#include "src/core/barrier.hpp"
#include "src/core/operation.hpp"
#include "src/devices/host_memory.hpp"
#include "src/measure/batch.hpp"
#include "src/run/slots.hpp"
#include "tests/bench/paired.hpp"

namespace {

using ccl_tests::Call;

// One rank's two ways to run the same batch on the same buffers over the same connections.
class Contestant {
 public:
  Contestant(ccl_tests::ControlChannel& channel, std::size_t bytes, int iterations)
      : self_{channel.rank(), channel.ranks()},
        connection_(ccl_tests::gloo_module::connect(channel, {})),
        ours_(ccl_tests::gloo_module::make_communicator(connection_, {})),
        operation_(
            std::make_unique<ccl_tests::LibraryCall<&ccl_tests::Communicator::all_reduce>>(*ours_)),
        bare_(connection_.context),
        count_(bytes / sizeof(float)),
        iterations_(iterations) {
    const std::size_t size = std::max<std::size_t>(4 * ccl_tests::buffer_bytes(bytes, 0), 1 << 20);
    send_ = ccl_tests::HostBuffer(size);
    recv_ = ccl_tests::HostBuffer(size);
    slots_ = ccl_tests::plan_slots(bytes, 0, size, static_cast<std::size_t>(iterations));
    ours_->set_time_limit(60);
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
    std::fill_n(reinterpret_cast<std::byte*>(recv_.data()), size, std::byte{0});
    std::fill_n(reinterpret_cast<std::byte*>(send_.data()), size, std::byte{0});
  }

  double time_ours() {
    return time([&](std::size_t k) { operation_->run(calls_[k % calls_.size()]); });
  }

  double time_bare() {
    return time([&](std::size_t k) {
      gloo::AllreduceOptions options(bare_);
      options.setInput(send(k), count_);
      options.setOutput(recv(k), count_);
      options.setReduceFunction(
          static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::sum<float>));
      gloo::allreduce(options);
    });
  }

 private:
  float* send(std::size_t k) {
    return reinterpret_cast<float*>(send_.data() + slots_.offset(k % slots_.count));
  }
  float* recv(std::size_t k) {
    return reinterpret_cast<float*>(recv_.data() + slots_.offset(k % slots_.count));
  }

  double time(const std::function<void(std::size_t)>& issue) {
    const ccl_tests::BatchActions actions{
        .issue = issue,
        .wait = [&] { ours_->wait(); },
        .barrier = [&] { ccl_tests::dissemination_barrier(*ours_, self_); },
        .now = ccl_tests::monotonic_seconds};
    return ccl_tests::bench::elsewhere_on_stack(++turn_, [&] {
      return ccl_tests::time_batch({iterations_, 1, ccl_tests::Blocking::none}, actions).wall;
    });
  }

  ccl_tests::GroupRank self_;  // of every call, as in the harness
  ccl_tests::gloo_module::Connection connection_;
  std::unique_ptr<ccl_tests::Communicator> ours_;
  std::unique_ptr<ccl_tests::Operation> operation_;  // as the spec makes it
  std::shared_ptr<gloo::Context> bare_;
  std::size_t count_;
  int iterations_;
  std::size_t turn_ = 0;
  ccl_tests::HostBuffer send_, recv_;
  ccl_tests::Slots slots_;
  std::vector<Call> calls_;  // one per slot, made before the clock starts, as in the harness
};

double mean_over_ranks(ccl_tests::ControlChannel& channel, double mine) {
  double sum = 0;
  for (const std::string& s : channel.all_gather(std::to_string(mine * 1e6), 60))
    sum += std::stod(s);
  return sum / channel.ranks() / 1e6;
}

ccl_tests::bench::Ratios run_rank(ccl_tests::ControlChannel& channel, std::size_t bytes,
                                  int iterations, int pairs) {
  Contestant c(channel, bytes, iterations);
  return ccl_tests::bench::time_pairs(
      pairs, [&] { return mean_over_ranks(channel, c.time_ours()); },
      [&] { return mean_over_ranks(channel, c.time_bare()); });
}

void compare(int ranks, std::size_t bytes, int iterations, int pairs) {
  const auto control = ccl_tests::alone();
  ccl_tests::ThreadRanks world(*control, ranks);
  ccl_tests::bench::Ratios result;
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      ccl_tests::bench::Ratios mine = run_rank(world.rank(rank), bytes, iterations, pairs);
      if (rank == 0) result = std::move(mine);
      world.rank(rank).all_gather("", 60);
    });
  }
  for (std::thread& thread : threads) thread.join();
  ccl_tests::bench::print(ranks, bytes, result);
}

}  // namespace

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? std::max(8, std::atoi(argv[1])) : 40;
  ccl_tests::bench::print_header("all_reduce float sum over Gloo", pairs);
  struct Size {
    std::size_t bytes;
    int iterations;
  };
  for (const int ranks : {1, 2, 4}) {
    for (const Size& s : {Size{8, 200}, Size{64 << 10, 100}, Size{4 << 20, 8}}) {
      compare(ranks, s.bytes,
              ranks == 1 ? s.iterations * 100 / (s.bytes > 1 << 20 ? 10 : 1) : s.iterations, pairs);
    }
  }
  return 0;
}
