// What the composite primitives cost beside their collectives: payload and sizes (all but packing)
// against the bare operations of the same sizes one after the other, in interleaved pairs whose
// order alternates; packing against memcpy of as many bytes by all ranks at once; and, against
// themselves, buckets against an operation for each tensor, and operations in flight together
// against one after the other.
//
//   mpirun -n 2 composite_costs [pairs] [backend]     or another launcher, or none: 1 rank
//
// Ranks beyond the cores wait for each other's packing inside the collectives, which is then
// counted as the collectives' own time.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "collectives/collectives.hpp"
#include "src/core/communicator.hpp"
#include "src/core/composed.hpp"
#include "src/devices/host_limits.hpp"
#include "src/options/values.hpp"
#include "src/programs/run_distributed.hpp"
#include "tests/bench/paired.hpp"
#include "tests/bench/recorded_calls.hpp"

namespace {

using namespace ccl_tests;

struct Rank {
  ControlChannel& channel;
  Communicator& communicator;
  std::byte* send;
  std::byte* recv;

  int ranks() const { return channel.ranks(); }
  GroupRank self() const { return {channel.rank(), ranks()}; }
  Call call(std::size_t bytes, bool in_place) const {
    Call call;
    call.send = in_place ? recv : send;
    call.recv = recv;
    call.count = bytes / sizeof(float);
    call.self = self();
    return call;
  }
  std::vector<double> all(double mine) const {
    std::vector<double> values;
    for (const std::string& s : channel.all_gather(fmt::format("{:.17g}", mine), 60))
      values.push_back(std::stod(s));
    return values;
  }
  double mean(double mine) const {
    const std::vector<double> values = all(mine);
    return std::accumulate(values.begin(), values.end(), 0.0) / ranks();
  }
  // Seconds of f, mean over ranks.
  double time(const std::function<void()>& f) const {
    composed::dissemination_barrier(communicator, self());
    const double start = communicator.clock().now();
    f();
    communicator.wait();
    return mean(communicator.clock().now() - start);
  }
};

// One rank's operation for messages of one size.
class Ours {
 public:
  Ours(const Rank& rank, const Collective& collective, const CollectiveOptions& options,
       std::size_t bytes)
      : rank_(rank),
        options_(options),
        shape_{bytes / sizeof(float), sizeof(float), rank.self(), options_},
        call_(rank.call(bytes, collective.layout(shape_).in_place.has_value())),
        calls_(rank.communicator),
        operation_(collective.make(rank.channel, calls_, shape_, DataType::float32)) {
    call_.count = collective.layout(shape_).count;
    if (!collective.domain.ops.empty()) call_.op = collective.domain.ops.front();
    operation_->run(call_);  // has its memory now
    calls_.record(true);
    operation_->run(call_);
    calls_.record(false);
  }

  double whole() {
    return rank_.time([&] { operation_->run(call_); });
  }
  // waited_for: see Subject.
  double without_packing(double waited_for) {
    const StepTimes before = operation_->times();
    composed::dissemination_barrier(rank_.communicator, rank_.self());
    operation_->run(call_);
    const StepTimes after = operation_->times();
    const double packing = after.packing_s - before.packing_s;
    packing_s_.push_back(rank_.mean(packing));
    const double first = rank_.all(packing).front();
    const double waited = rank_.channel.rank() == 0 ? 0 : waited_for * first;
    return rank_.mean(after.total_s() - before.total_s() - packing - waited);
  }
  // Its collectives alone, on the same buffers, with the caches as packing leaves them.
  double bare(bool packs) {
    if (packs) {
      calls_.each_packed(
          [&](std::byte* to, std::size_t bytes) { std::memcpy(to, call_.send, bytes); });
    }
    return rank_.time([&] { calls_.repeat(); });
  }
  double packing_s() {  // median
    std::sort(packing_s_.begin(), packing_s_.end());
    return packing_s_[packing_s_.size() / 2];
  }

 private:
  const Rank& rank_;
  CollectiveOptions options_;
  Shape shape_;
  Call call_;
  bench::RecordedCalls calls_;
  std::unique_ptr<Operation> operation_;
  std::vector<double> packing_s_;
};

struct Subject {
  const Collective& collective;
  double copies;  // of the message's bytes that packing makes, mean over ranks; 0: none
  CollectiveOptions options = {};
  double waited_for = 0;  // the share of rank 0's packing that all other ranks wait for
};

std::vector<Subject> subjects(int ranks) {
  using namespace collectives;
  CollectiveOptions one_by_one;
  one_by_one.async_operations = false;
  return {{all_gather_object, 1.0 / ranks + 1},
          {broadcast_object, 1.0 / ranks + 1, {}, 0.5},
          {all_reduce_dict, 2},
          {reduce_dict, 1 + 1.0 / ranks},
          {all_reduce_params, 2},
          {broadcast_tensors, 0, one_by_one},
          {sync_grad, 0, one_by_one}};
}

void costs(const Rank& rank, const Subject& s, std::size_t bytes, int pairs) {
  Ours ours(rank, s.collective, s.options, bytes);
  const bool packs = s.copies > 0;
  const bench::Ratios r = bench::time_pairs(
      pairs, [&] { return ours.without_packing(s.waited_for); }, [&] { return ours.bare(packs); });
  std::string packing = "none";
  if (packs) {
    std::vector<double> copies;
    for (int k = 0; k < pairs; ++k)
      copies.push_back(rank.time([&] { std::memcpy(rank.recv, rank.send, bytes); }));
    std::sort(copies.begin(), copies.end());
    const double memcpy_rate = static_cast<double>(bytes) / copies[copies.size() / 2];
    packing = fmt::format("{:.2f}",
                          s.copies * static_cast<double>(bytes) / ours.packing_s() / memcpy_rate);
  }
  if (rank.channel.rank() != 0) return;
  fmt::print("{:18} {:9} {:11.1f}   {}   {}   {:>7}\n", s.collective.name, bytes, r.bare_s * 1e6,
             bench::interval(r.ours), bench::interval(r.bare), packing);
  std::fflush(stdout);
}

// One setting of a composite against another.
void settings(const Rank& rank, const char* what, const Collective& collective,
              const CollectiveOptions& one, const CollectiveOptions& other, std::size_t bytes,
              int pairs) {
  Ours first(rank, collective, one, bytes);
  Ours second(rank, collective, other, bytes);
  const bench::Ratios r = bench::time_pairs(
      pairs, [&] { return first.whole(); }, [&] { return second.whole(); });
  if (rank.channel.rank() != 0) return;
  fmt::print("{:52} {:9} {:11.1f}   {}   {}\n", what, bytes, r.bare_s * 1e6,
             bench::interval(r.ours), bench::interval(r.bare));
  std::fflush(stdout);
}

void run(const Rank& rank, int pairs) {
  const bool first = rank.channel.rank() == 0;
  if (first) {
    fmt::print("# {} ranks, {} pairs; medians with 95 % intervals\n", rank.ranks(), pairs);
    fmt::print("# composite        bytes   bare (us)   without packing / bare  bare / bare   ");
    fmt::print("          packing / memcpy\n");
  }
  for (const Subject& s : subjects(rank.ranks())) {
    for (const std::size_t bytes :
         {std::size_t{1} << 20, std::size_t{4} << 20, std::size_t{16} << 20})
      costs(rank, s, bytes, pairs);
  }
  if (first)
    fmt::print("# setting / setting      bytes   second (us)   first / second   second / second\n");
  CollectiveOptions buckets;
  buckets.tensors = parse_tensors("resnet50");
  CollectiveOptions alone = buckets;
  alone.bucket_mib = 0;
  constexpr std::size_t resnet50 = 102'228'128;
  for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{16} << 20, resnet50})
    settings(rank, "all_reduce_params, resnet50: 25 MiB / per tensor",
             collectives::all_reduce_params, buckets, alone, bytes, std::max(8, pairs / 4));
  CollectiveOptions waiting = buckets;
  waiting.async_operations = false;
  for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{16} << 20, resnet50}) {
    settings(rank, "sync_grad, resnet50: in flight / one by one", collectives::sync_grad, buckets,
             waiting, bytes, std::max(8, pairs / 4));
    settings(rank, "broadcast_tensors, resnet50: in flight / one by one",
             collectives::broadcast_tensors, buckets, waiting, bytes, std::max(8, pairs / 4));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const int pairs = argc > 1 ? std::max(8, std::atoi(argv[1])) : 40;
  DistributedOptions options;
  options.backend = argc > 2 ? argv[2] : "gloo";
  return run_distributed(options, [&](primitives::Group& world) {
    constexpr std::size_t most = std::size_t{128} << 20;
    const Buffer send = host_buffer(most);
    const Buffer recv = host_buffer(most);
    std::memset(send.data(), 0, most);
    std::memset(recv.data(), 0, most);
    run({world.channel(), world.communicator(), send.data(), recv.data()}, pairs);
  });
}
