// What the suite adds to NCCL's call: all_reduce through the harness's own path (spec, Call,
// module, batch) against a bare loop over ncclAllReduce, with the same communicator, stream and
// buffers, in one process, in interleaved pairs whose order alternates. Beside it bare against
// bare, which is what the machine can resolve; and at the largest size CUDA's events around the
// bare loop against the host's clock. A rank, which is a thread, for every GPU that is visible.
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <nccl.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "src/backends/nccl/api.hpp"
#include "src/backends/nccl/communicator.hpp"
#include "src/bootstrap/control.hpp"
#include "src/bootstrap/thread_ranks.hpp"
#include "src/core/communicator.hpp"
#include "src/core/operation.hpp"
#include "src/devices/cuda/device.hpp"
#include "src/options/command_line.hpp"
#include "src/options/program_texts.hpp"
#include "src/options/values.hpp"
#include "tests/bench/paired.hpp"

namespace {

using ccl_tests::nccl_module::api;
using ccl_tests::nccl_module::check;

struct Arguments {
  std::size_t first = 8, last = std::size_t{1} << 30;
  int gpus = 0, pairs = 40;
  std::string json;
};

// What the module hands to ncclAllReduce: read off its own call.
struct Seen {
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
};
Seen& seen() {
  thread_local Seen mine;
  return mine;
}
decltype(&ncclAllReduce) real_all_reduce = nullptr;
ncclResult_t seeing_all_reduce(const void* send, void* recv, size_t count, ncclDataType_t type,
                               ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream) {
  seen() = {comm, stream};
  return real_all_reduce(send, recv, count, type, op, comm, stream);
}
void see_all_reduce(bool on) {
  auto& functions = const_cast<ccl_tests::nccl_module::Api&>(api());
  if (on) real_all_reduce = functions.all_reduce;
  functions.all_reduce = on ? &seeing_all_reduce : real_all_reduce;
}

double over_ranks(ccl_tests::ControlChannel& channel, double mine, bool largest) {
  double sum = 0, most = 0;
  for (const std::string& s : channel.all_gather(fmt::format("{}", mine), 600)) {
    sum += std::stod(s);
    most = std::max(most, std::stod(s));
  }
  return largest ? most : sum / channel.ranks();
}

// One rank's two ways to run the same batch.
class Contestant {
 public:
  Contestant(ccl_tests::ControlChannel& channel, std::size_t largest)
      : channel_(channel),
        self_{channel.rank(), channel.ranks()},
        device_(ccl_tests::cuda_module::open_device(channel.rank())),
        room_(std::max(largest, slots * smallest_slot)) {
    device_->use();
    ccl_tests::BackendOptions options;
    options.device = device_.get();
    ours_ = ccl_tests::nccl_module::connect(channel, options);
    operation_ =
        std::make_unique<ccl_tests::LibraryCall<&ccl_tests::Communicator::all_reduce>>(*ours_);
    ours_->set_time_limit(600);
    send_ = device_->allocate(room_);
    recv_ = device_->allocate(room_);
    check(cudaMemset(send_.data(), 0, room_), "clearing");
    check(cudaEventCreate(&begin_), "making an event");
    check(cudaEventCreate(&end_), "making an event");
    set_size(sizeof(float));
    if (self_.rank == 0) see_all_reduce(true);
    channel.all_gather("", 60);
    operation_->run(calls_.front());
    ours_->wait();
    used_ = seen();
    channel.all_gather("", 60);
    if (self_.rank == 0) see_all_reduce(false);
    channel.all_gather("", 60);
  }
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;

  // Calls rotate over slots, as in the harness.
  void set_size(std::size_t bytes) {
    count_ = bytes / sizeof(float);
    const std::size_t slot = (bytes + 255) / 256 * 256;
    calls_.clear();
    for (std::size_t k = 0; k < std::clamp<std::size_t>(room_ / slot, 1, slots); ++k) {
      calls_.push_back({.send = send_.data() + k * slot,
                        .recv = recv_.data() + k * slot,
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
  }

  // The same on all ranks.
  int choose_iterations() {
    constexpr double batch_s = 0.02;
    time_bare(3);
    const double one = over_ranks(channel_, time_bare(3), true);
    return static_cast<int>(std::clamp(batch_s / one, 3.0, 500.0));
  }

  double time_ours(int iterations) {
    return ccl_tests::bench::elsewhere_on_stack(++turn_, [&] {
      return ccl_tests::bench::seconds_per_call(
          iterations, [&](std::size_t k) { operation_->run(calls_[k % calls_.size()]); },
          [&] { ours_->wait(); }, [&] { ours_->timing_barrier(self_); });
    });
  }

  double time_bare(int iterations) {
    ours_->timing_barrier(self_);
    return ccl_tests::bench::elsewhere_on_stack(++turn_, [&] {
      const double start = ccl_tests::monotonic_seconds();
      issue_bare(iterations);
      wait_bare();
      return (ccl_tests::monotonic_seconds() - start) / iterations;
    });
  }

  // Seconds by events in the stream around the operations, divided by the host's.
  double events_to_host(int iterations) {
    ours_->timing_barrier(self_);
    const double start = ccl_tests::monotonic_seconds();
    check(cudaEventRecord(begin_, used_.stream), "recording an event");
    issue_bare(iterations);
    check(cudaEventRecord(end_, used_.stream), "recording an event");
    wait_bare();
    const double host = ccl_tests::monotonic_seconds() - start;
    float milliseconds = 0;
    check(cudaEventElapsedTime(&milliseconds, begin_, end_), "the time between events");
    return static_cast<double>(milliseconds) / 1e3 / host;
  }

 private:
  static constexpr std::size_t slots = 16, smallest_slot = 256;

  void issue_bare(int iterations) {
    const std::size_t n = calls_.size();
    for (std::size_t k = 0; k < static_cast<std::size_t>(iterations); ++k) {
      check(api().all_reduce(calls_[k % n].send, calls_[k % n].recv, count_, ncclFloat32, ncclSum,
                             used_.comm, used_.stream),
            "ncclAllReduce");
    }
  }
  // Polls, as the module and nccl-tests do.
  void wait_bare() {
    cudaError_t status = cudaErrorNotReady;
    while ((status = cudaStreamQuery(used_.stream)) == cudaErrorNotReady) std::this_thread::yield();
    check(status, "waiting for the stream");
  }

  ccl_tests::ControlChannel& channel_;
  ccl_tests::GroupRank self_;
  std::unique_ptr<ccl_tests::Device> device_;
  std::unique_ptr<ccl_tests::Communicator> ours_;
  std::unique_ptr<ccl_tests::Operation> operation_;  // as the spec makes it
  std::size_t room_, count_ = 0, turn_ = 0;
  ccl_tests::Buffer send_, recv_;
  std::vector<ccl_tests::Call> calls_;
  Seen used_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

class Results {
 public:
  explicit Results(const std::string& file) {
    if (file.empty()) return;
    json_.open(file);
    if (!json_) throw ccl_tests::UsageError("-J: cannot write " + file);
  }
  void size(int ranks, std::size_t bytes, int iterations, const ccl_tests::bench::Ratios& r) {
    ccl_tests::bench::print(ranks, bytes, r);
    line({{"type", "nccl_overhead"},
          {"ranks", ranks},
          {"bytes", bytes},
          {"iterations", iterations},
          {"pairs", r.ours.size()},
          {"bare_s", r.bare_s},
          {"ours_to_bare", as_json(r.ours)},
          {"bare_to_bare", as_json(r.bare)}});
  }
  void events(std::size_t bytes, const std::vector<double>& ratios) {
    fmt::print("# {} B: CUDA events / host clock, around the same operations: {}\n", bytes,
               ccl_tests::bench::interval(ratios));
    line({{"type", "events_to_host"}, {"bytes", bytes}, {"ratio", as_json(ratios)}});
  }

 private:
  static nlohmann::json as_json(const std::vector<double>& ratios) {
    const auto i = ccl_tests::bench::interval_of(ratios);
    return {{"median", i.median}, {"low", i.low}, {"high", i.high}};
  }
  void line(const nlohmann::json& json) {
    if (json_.is_open()) json_ << json.dump() << std::endl;
  }
  std::ofstream json_;
};

void run_rank(ccl_tests::ControlChannel& channel, const Arguments& a, Results& results) {
  Contestant c(channel, a.last);
  int iterations = 1;
  for (std::size_t bytes = a.first; bytes <= a.last; bytes *= 8) {
    c.set_size(bytes);
    iterations = c.choose_iterations();
    const auto ratios = ccl_tests::bench::time_pairs(
        a.pairs, [&] { return over_ranks(channel, c.time_ours(iterations), false); },
        [&] { return over_ranks(channel, c.time_bare(iterations), false); });
    if (channel.rank() == 0) results.size(channel.ranks(), bytes, iterations, ratios);
    if (bytes > a.last / 8) {
      std::vector<double> events;
      for (int pair = 0; pair < a.pairs; ++pair) events.push_back(c.events_to_host(iterations));
      if (channel.rank() == 0) results.events(bytes, events);
    }
  }
  channel.all_gather("", 60);
}

void run(const Arguments& a) {
  ccl_tests::nccl_module::load({});
  int ranks = a.gpus;
  if (ranks == 0) check(cudaGetDeviceCount(&ranks), "counting GPUs");
  Results results(a.json);
  fmt::print("# NCCL {}, {}\n", ccl_tests::nccl_module::dotted(api().version), api().file);
  ccl_tests::bench::print_header("all_reduce float sum over NCCL", a.pairs);
  const auto control = ccl_tests::alone();
  ccl_tests::ThreadRanks world(*control, ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        run_rank(world.rank(rank), a, results);
      } catch (const std::exception& error) {  // peers may be inside NCCL
        fmt::print(stderr, "rank {}: {}\n", rank, error.what());
        std::fflush(nullptr);
        std::_Exit(ccl_tests::exit_code(ccl_tests::Exit::failed));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  using ccl_tests::in_range, ccl_tests::parse_size;
  Arguments a;
  bool help = false;
  ccl_tests::FlagSet set;
  set.add(a.first, "-b", "SIZE", "smallest size", parse_size);
  set.add(a.last, "-e", "SIZE", "largest size; each is 8 times the one before", parse_size);
  set.add(a.gpus, "-g", "N", "GPUs", in_range(1, 1024), {.by_default = "all that are visible"});
  set.add(a.pairs, "-n", "N", "pairs for each size", in_range(8, 100000));
  set.add(a.json, "-J", "FILE", "JSON Lines, into this file", ccl_tests::parse_file);
  set.add(help, "-h,--help", "", "print this help", ccl_tests::zero_or_one());
  try {
    help = !read_flags(set, read_command_line(set, {argv + 1, argv + argc}), "nccl_overhead");
    if (help) {
      static constexpr ccl_tests::ExitText exits[] = {
          {"0", "measured"}, {"2", "usage"}, {"3", "unsupported here"}, {"4", "a library failed"}};
      ccl_tests::ProgramTexts texts;
      texts.exits = exits;
      texts.name = "nccl_overhead";
      texts.about = "the suite's all_reduce against a bare loop over ncclAllReduce";
      fmt::print("{}", help_all(texts, set));
      return 0;
    }
    a.first = std::max(sizeof(float), a.first);
    a.last = std::max(a.first, a.last);
    run(a);
  } catch (const ccl_tests::Error& error) {
    fmt::print(stderr, "{}\n", error.what());
    return ccl_tests::exit_code(error.code());
  }
  return 0;
}
