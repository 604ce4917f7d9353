// What the suite adds to a library call: all_reduce through the harness's own path (take_block,
// OperationWorkload, module) against a bare loop over gloo::allreduce with options made per call, on the same
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

#include "src/backends/gloo/connect.hpp"
#include "src/bootstrap/control.hpp"
#include "src/bootstrap/thread_ranks.hpp"
#include "src/core/communicator.hpp"
#include "tests/bench/harness_calls.hpp"
#include "tests/bench/paired.hpp"

namespace {

// One rank's two ways to run the same batch on the same buffers over the same connections.
class Contestant {
 public:
  Contestant(ccl_tests::ControlChannel& channel, std::size_t bytes, int iterations)
      : connection_(ccl_tests::gloo_module::connect(channel, {})),
        ours_(ccl_tests::gloo_module::make_communicator(connection_, {})),
        bare_(connection_.context),
        calls_(*ours_, channel.rank(), channel.ranks(), bytes,
               static_cast<std::size_t>(iterations)),
        count_(bytes / sizeof(float)),
        iterations_(iterations) {
    ours_->set_time_limit(60);
  }

  double time_ours() {
    return ccl_tests::bench::elsewhere_on_stack(++turn_, [&] { return calls_.time(); });
  }

  double time_bare() {
    return ccl_tests::bench::elsewhere_on_stack(++turn_, [&] {
      calls_.barrier();
      std::size_t slot = 0;
      const double start = ccl_tests::monotonic_seconds();
      for (int k = 0; k < iterations_; ++k) {
        all_reduce(slot);
        if (++slot == calls_.slots()) slot = 0;
      }
      return (ccl_tests::monotonic_seconds() - start) / iterations_;
    });
  }

 private:
  void all_reduce(std::size_t slot) {
    gloo::AllreduceOptions options(bare_);
    options.setInput(calls_.send(slot), count_);
    options.setOutput(calls_.recv(slot), count_);
    options.setReduceFunction(
        static_cast<void (*)(void*, const void*, const void*, std::size_t)>(&gloo::sum<float>));
    gloo::allreduce(options);
  }

  ccl_tests::gloo_module::Connection connection_;
  std::unique_ptr<ccl_tests::Communicator> ours_;
  std::shared_ptr<gloo::Context> bare_;
  ccl_tests::bench::HarnessCalls calls_;
  std::size_t count_;
  int iterations_;
  std::size_t turn_ = 0;
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
