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
#include <vector>

#include "collectives/collectives.hpp"
#include "src/core/barrier.hpp"
#include "src/devices/host_memory.hpp"
#include "src/options/tensor_lists.hpp"
#include "src/run_distributed.hpp"
#include "tests/bench/paired.hpp"

namespace {

using namespace ccl;

struct Rank {
  Bootstrap& bootstrap;
  Communicator& communicator;
  std::byte* send;
  std::byte* recv;

  int ranks() const { return bootstrap.ranks(); }
  Place place() const { return {bootstrap.rank(), ranks(), 0, 0}; }
  Call call(std::size_t bytes, bool in_place) const {
    Call call;
    call.send = in_place ? recv : send;
    call.recv = recv;
    call.count = bytes / sizeof(float);
    call.place = place();
    return call;
  }
  double mean(double mine) const {
    double sum = 0;
    for (const std::string& s : bootstrap.exchange(fmt::format("{:.17g}", mine), 60))
      sum += std::stod(s);
    return sum / ranks();
  }
  // Seconds of f, mean over ranks.
  double time(const std::function<void()>& f) const {
    dissemination_barrier(communicator, place());
    const double start = communicator.now();
    f();
    communicator.wait();
    return mean(communicator.now() - start);
  }
};

// One rank's composite for messages of one size.
class Ours {
 public:
  Ours(const Rank& rank, const Collective& collective, const SpecOptions& options,
       std::size_t bytes)
      : rank_(rank),
        options_(options),
        shape_{bytes / sizeof(float), sizeof(float), rank.place(), options_},
        call_(rank.call(bytes, collective.layout(shape_).in_place.has_value())),
        composite_(
            collective.compose(rank.bootstrap, rank.communicator, shape_, DataType::float32)) {
    call_.count = collective.layout(shape_).call_count;
    if (!collective.ops.empty()) call_.op = collective.ops.front();
  }

  double whole() {
    return rank_.time([&] { composite_->run(call_); });
  }
  double without_packing() {
    const StepTimes before = composite_->times();
    dissemination_barrier(rank_.communicator, rank_.place());
    composite_->run(call_);
    const StepTimes after = composite_->times();
    packing_s_.push_back(rank_.mean(after.packing_s - before.packing_s));
    return rank_.mean(after.total_s() - after.packing_s - before.total_s() + before.packing_s);
  }
  double packing_s() {  // median
    std::sort(packing_s_.begin(), packing_s_.end());
    return packing_s_[packing_s_.size() / 2];
  }

 private:
  const Rank& rank_;
  SpecOptions options_;
  Shape shape_;
  Call call_;
  std::unique_ptr<Composite> composite_;
  std::vector<double> packing_s_;
};

struct Subject {
  const Collective& collective;
  SpecOptions options;
  std::function<void(const Rank&, std::size_t bytes)> bare;
  std::function<double(std::size_t bytes)> packed;  // bytes that packing copies, mean over ranks
};

Call plain(const Rank& rank, std::size_t count, DataType type, ReduceOp op = ReduceOp::sum) {
  Call call = rank.call(0, true);
  call.count = count;
  call.type = type;
  call.op = op;
  return call;
}

std::vector<Subject> subjects(int ranks) {
  using namespace collectives;
  const auto gathered = [](const Rank& rank, std::size_t bytes) {
    Call call = plain(rank, 1, DataType::int64);
    call.send = rank.send;
    rank.communicator.all_gather(call);
    call.count = bytes / static_cast<std::size_t>(rank.ranks());
    call.type = DataType::uint8;
    rank.communicator.all_gather(call);
  };
  const auto broadcast_list = [](const Rank& rank, std::size_t bytes) {
    rank.communicator.broadcast(plain(rank, 8, DataType::int64));
    rank.communicator.broadcast(plain(rank, bytes, DataType::uint8));
  };
  const auto reduced = [](const Rank& rank, std::size_t bytes) {
    rank.communicator.all_reduce(plain(rank, bytes / sizeof(float), DataType::float32));
  };
  const auto reduced_to_0 = [](const Rank& rank, std::size_t bytes) {
    rank.communicator.reduce(plain(rank, bytes / sizeof(float), DataType::float32, ReduceOp::avg));
  };
  const auto each = [](ReduceOp op, bool broadcast) {
    return [op, broadcast](const Rank& rank, std::size_t bytes) {
      Call call = plain(rank, 0, DataType::float32, op);
      std::byte* at = rank.recv;
      for (const std::size_t count : scaled(std::vector<std::size_t>(16, 1), bytes / 4)) {
        call.send = call.recv = at;
        call.count = count;
        broadcast ? rank.communicator.broadcast(call) : rank.communicator.all_reduce(call);
        at += count * sizeof(float);
      }
    };
  };
  const auto times = [](double factor) {
    return [factor](std::size_t bytes) { return factor * static_cast<double>(bytes); };
  };
  SpecOptions together;
  SpecOptions one_by_one;
  one_by_one.in_flight = false;
  return {{all_gather_object, together, gathered, times(1.0 / ranks + 1)},
          {broadcast_object, together, broadcast_list, times(1.0 / ranks + 1)},
          {all_reduce_dict, together, reduced, times(2)},
          {reduce_dict, together, reduced_to_0, times(1 + 1.0 / ranks)},
          {all_reduce_params, together, reduced, times(2)},
          {broadcast_tensors, one_by_one, each(ReduceOp::sum, true), {}},
          {sync_grad, one_by_one, each(ReduceOp::avg, false), {}}};
}

void costs(const Rank& rank, const Subject& s, std::size_t bytes, int pairs) {
  Ours ours(rank, s.collective, s.options, bytes);
  const bench::Ratios r = bench::time_pairs(
      pairs, [&] { return ours.without_packing(); },
      [&] { return rank.time([&] { s.bare(rank, bytes); }); });
  std::string packing = "none";
  if (s.packed) {
    std::vector<double> copies;
    for (int k = 0; k < pairs; ++k)
      copies.push_back(rank.time([&] { std::memcpy(rank.recv, rank.send, bytes); }));
    std::sort(copies.begin(), copies.end());
    const double memcpy_rate = static_cast<double>(bytes) / copies[copies.size() / 2];
    packing = fmt::format("{:.2f}", s.packed(bytes) / ours.packing_s() / memcpy_rate);
  }
  if (rank.bootstrap.rank() != 0) return;
  fmt::print("{:18} {:9} {:11.1f}   {}   {}   {:>7}\n", s.collective.name, bytes, r.bare_s * 1e6,
             bench::interval(r.ours), bench::interval(r.bare), packing);
  std::fflush(stdout);
}

// One setting of a composite against another.
void settings(const Rank& rank, const char* what, const Collective& collective,
              const SpecOptions& one, const SpecOptions& other, std::size_t bytes, int pairs) {
  Ours first(rank, collective, one, bytes);
  Ours second(rank, collective, other, bytes);
  const bench::Ratios r = bench::time_pairs(
      pairs, [&] { return first.whole(); }, [&] { return second.whole(); });
  if (rank.bootstrap.rank() != 0) return;
  fmt::print("{:52} {:9} {:11.1f}   {}   {}\n", what, bytes, r.bare_s * 1e6,
             bench::interval(r.ours), bench::interval(r.bare));
  std::fflush(stdout);
}

void run(const Rank& rank, int pairs) {
  const bool first = rank.bootstrap.rank() == 0;
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
  SpecOptions buckets;
  buckets.tensors = parse_tensors("resnet50");
  SpecOptions alone = buckets;
  alone.bucket_mib = 0;
  constexpr std::size_t resnet50 = 102'228'128;
  for (const std::size_t bytes : {std::size_t{1} << 20, std::size_t{16} << 20, resnet50})
    settings(rank, "all_reduce_params, resnet50: 25 MiB / per tensor",
             collectives::all_reduce_params, buckets, alone, bytes, std::max(8, pairs / 4));
  SpecOptions waiting = buckets;
  waiting.in_flight = false;
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
    const HostBuffer send(most);
    const HostBuffer recv(most);
    std::memset(send.data(), 0, most);
    std::memset(recv.data(), 0, most);
    run({world.bootstrap(), world.communicator(), send.data(), recv.data()}, pairs);
  });
}
