#include "src/backends/gloo/connect.hpp"

#include <fmt/format.h>
#include <gloo/allgather.h>
#include <gloo/allgatherv.h>
#include <gloo/allreduce.h>
#include <gloo/alltoall.h>
#include <gloo/alltoallv.h>
#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/gather.h>
#include <gloo/reduce.h>
#include <gloo/scatter.h>

#include <algorithm>
#include <chrono>
#include <span>
#include <utility>
#include <vector>

#include "src/backends/gloo/arithmetic.hpp"
#include "src/backends/gloo/errors.hpp"
#include "src/backends/gloo/messages.hpp"
#include "src/backends/gloo/workers.hpp"

namespace ccl_tests::gloo_module {
namespace {

using std::chrono::milliseconds;

using Algorithm = gloo::AllreduceOptions::Algorithm;

Algorithm find_algorithm(const std::string& name) {
  if (name.empty()) return Algorithm::UNSPECIFIED;
  if (name == "ring") return Algorithm::RING;
  if (name == "bcube") return Algorithm::BCUBE;
  throw UsageError("--gloo-algorithm: unknown name '" + name + "'; accepted: ring, bcube");
}

Capabilities describe(std::vector<std::string> connection, const std::string& algorithm,
                      Reduce reduce) {
  std::vector<std::string> lines = std::move(connection);
  lines.push_back(fmt::format("all_reduce algorithm: {}",
                              algorithm.empty() ? "Gloo's choice (ring)" : algorithm));
  lines.emplace_back(
      "reduce_scatter, reduce_scatterv: a ring over send and recv, gatherv, scatterv: messages; the "
      "algorithms are the suite's, not Gloo's");
  lines.emplace_back("avg and mulsum are composed: sum, then divide; multiply, then sum");
  return {.description = std::move(lines),
          .operations = OperationSet::all(),
          .emulated = {{std::nullopt, ReduceOp::avg, "sum, then divide"},
                       {std::nullopt, ReduceOp::mulsum, "multiply, then sum"}},
          .combined_by_suite = combined_by_suite(reduce)};
}

// alltoallv's options with offsets: the setters of Gloo's own take adjacent blocks only.
class BlocksAnywhere : public gloo::AlltoallvOptions {
 public:
  BlocksAnywhere(const std::shared_ptr<gloo::Context>& of, const Call& call)
      : AlltoallvOptions(of) {
    elementSize = size_of(call.type);
    in = bind(call.send, call.send_counts, call.send_offsets, inLengthPerRank, inOffsetPerRank);
    out = bind(call.recv, call.recv_counts, call.recv_offsets, outLengthPerRank, outOffsetPerRank);
  }

 private:
  std::unique_ptr<gloo::transport::UnboundBuffer> bind(const void* data,
                                                       std::span<const std::size_t> counts,
                                                       std::span<const std::size_t> offsets,
                                                       std::vector<std::size_t>& lengths,
                                                       std::vector<std::size_t>& begins) const {
    std::size_t end = 0;
    for (std::size_t r = 0; r < counts.size(); ++r) {
      lengths.push_back(counts[r] * elementSize);
      begins.push_back(offsets[r] * elementSize);
      if (counts[r] > 0) end = std::max(end, begins[r] + lengths[r]);
    }
    return context->createUnboundBuffer(const_cast<void*>(data), end);
  }
};

// Gloo's collectives see elements only by their width. In place, Gloo copies a root's block onto
// itself, which is harmless. Options are made per call, as a user of Gloo makes them; operations on
// 0 elements never reach Gloo (its allgather of nothing divides by zero).
class GlooCommunicator : public Communicator {
 public:
  GlooCommunicator(Connection connection, const BackendOptions& options)
      : connection_(std::move(connection)),
        context_(connection_.context),
        algorithm_(find_algorithm(options.gloo_algorithm)),
        reduce_(reduce_choice(options)),
        capabilities_(describe(connection_.description, options.gloo_algorithm, reduce_)) {
    capabilities_.chosen_interface = connection_.chosen_interface;
  }

  void all_reduce(const Call& call) override { all_reduce(call, own_tag); }
  void broadcast(const Call& call) override { broadcast(call, own_tag); }

  std::unique_ptr<Work> start_all_reduce(const Call& call) override {
    return workers_.start([this, call, tag = next_tag()] { all_reduce(call, tag); });
  }
  std::unique_ptr<Work> start_broadcast(const Call& call) override {
    return workers_.start([this, call, tag = next_tag()] { broadcast(call, tag); });
  }

  void reduce(const Call& call) override {
    if (call.count == 0) return;
    const void* const send = premultiplied(call, call.count, call.recv);
    by_width(call, [&]<class U>() {
      gloo::ReduceOptions options(context_);
      if (send != call.recv) options.setInput(elements<U>(send), call.count);
      options.setOutput(elements<U>(call.recv), call.count);
      options.setRoot(call.root);
      options.setReduceFunction(combine_function(reduce_, call.type, call.op));
      options.setTimeout(limit(call, call.count));
      gloo::reduce(options);
    });
    if (is_root(call)) divided(call, call.recv, call.count);
  }

  void all_gather(const Call& call) override {
    if (call.count == 0) return;
    by_width(call, [&]<class U>() {
      gloo::AllgatherOptions options(context_);
      U* const out = elements<U>(call.recv);
      // Without an input Gloo takes this rank's block of the output.
      if (call.send != out + rank() * call.count)
        options.setInput(elements<U>(call.send), call.count);
      options.setOutput(out, call.count * ranks());
      options.setTimeout(limit(call, call.count * ranks()));
      gloo::allgather(options);
    });
  }

  void reduce_scatter(const Call& call) override {
    if (call.count == 0) return;
    std::vector<std::size_t> offsets(ranks() + 1);
    for (std::size_t r = 0; r < offsets.size(); ++r) offsets[r] = r * call.count;
    reduce_scatter_blocks(call, offsets);
  }

  void reduce_scatterv(const Call& call) override {
    std::vector<std::size_t> offsets(call.send_offsets.begin(), call.send_offsets.end());
    offsets.push_back(sum_of(call.send_counts));
    if (offsets.back() > 0) reduce_scatter_blocks(call, offsets);
  }

  void alltoall(const Call& call) override {
    if (call.count == 0) return;
    by_width(call, [&]<class U>() {
      gloo::AlltoallOptions options(context_);
      options.setInput(elements<U>(call.send), call.count * ranks());
      options.setOutput(elements<U>(call.recv), call.count * ranks());
      options.setTimeout(limit(call, call.count * ranks()));
      gloo::alltoall(options);
    });
  }

  void all_gatherv(const Call& call) override {
    const std::size_t all = sum_of(call.recv_counts);
    if (all == 0) return;
    by_width(call, [&]<class U>() {
      gloo::AllgathervOptions options(context_);
      U* const out = elements<U>(call.recv);
      // Without an input Gloo takes this rank's block of the output.
      if (call.send != out + call.recv_offsets[rank()])
        options.setInput(elements<U>(call.send), call.count);
      options.setOutput(out, {call.recv_counts.begin(), call.recv_counts.end()});
      options.setTimeout(limit(call, all));
      gloo::allgatherv(options);
    });
  }

  // Blocks may lie anywhere, on each rank in its own way.
  void alltoallv(const Call& call) override {
    translated([&] {
      BlocksAnywhere options(context_, call);
      options.setTimeout(limit(call, sum_of(call.recv_counts) * ranks()));
      gloo::alltoallv(options);
    });
  }

  void gather(const Call& call) override {
    if (call.count == 0) return;
    by_width(call, [&]<class U>() {
      gloo::GatherOptions options(context_);
      options.setInput(elements<U>(call.send), call.count);
      if (is_root(call)) options.setOutput(elements<U>(call.recv), call.count * ranks());
      options.setRoot(call.root);
      options.setTimeout(limit(call, call.count * ranks()));
      gloo::gather(options);
    });
  }

  void scatter(const Call& call) override {
    if (call.count == 0) return;
    by_width(call, [&]<class U>() {
      gloo::ScatterOptions options(context_);
      U* const in = elements<U>(call.send);
      if (is_root(call)) {
        std::vector<U*> blocks;
        for (std::size_t r = 0; r < ranks(); ++r) blocks.push_back(in + r * call.count);
        options.setInputs(blocks, call.count);
      }
      options.setOutput(elements<U>(call.recv), call.count);
      options.setRoot(call.root);
      options.setTimeout(limit(call, call.count * ranks()));
      gloo::scatter(options);
    });
  }

  void barrier(const Call& call) override {
    translated([&] {
      gloo::BarrierOptions options(context_);
      options.setTimeout(limit(call, 0));
      gloo::barrier(options);
    });
  }

  void transfer(std::span<Message> messages, Deadline& deadline) override {
    translated([&] { gloo_module::transfer(*context_, messages, deadline.limit()); });
  }

  void abort() noexcept override {
    Communicator::abort();
    connection_.sockets.shut_down();
  }

  const Capabilities& capabilities() const override { return capabilities_; }

 private:
  static constexpr std::uint32_t own_tag = 0;  // of operations that stand alone
  std::uint32_t next_tag() {
    constexpr std::uint32_t most = 1 << 16;
    last_tag_ = last_tag_ % most + 1;
    return last_tag_;
  }

  std::size_t rank() const { return static_cast<std::size_t>(context_->rank); }
  std::size_t ranks() const { return static_cast<std::size_t>(context_->size); }
  bool is_root(const Call& call) const { return call.root == context_->rank; }

  // offsets: as ring_reduce_scatter's.
  void reduce_scatter_blocks(const Call& call, std::span<const std::size_t> offsets) {
    const std::size_t all = offsets.back();
    Call step = call;
    if (call.op == ReduceOp::mulsum) {
      const auto* const send = static_cast<const std::byte*>(call.send);
      const bool in_place = call.recv == send + offsets[rank()] * size_of(call.type);
      step.send =
          premultiplied(call, all, in_place ? const_cast<void*>(call.send) : products(call, all));
    }
    translated([&] {
      ring_reduce_scatter(*context_, step, offsets, combine_function(reduce_, call.type, call.op),
                          scratch_, limit(call, all));
    });
    divided(call, call.recv, call.count);
  }

  void all_reduce(const Call& call, std::uint32_t tag) {
    if (call.count == 0) return;
    const void* const send = premultiplied(call, call.count, call.recv);
    by_width(call, [&]<class U>() {
      gloo::AllreduceOptions options(context_);
      options.setTag(tag);
      options.setAlgorithm(algorithm_);
      if (send != call.recv) options.setInput(elements<U>(send), call.count);
      options.setOutput(elements<U>(call.recv), call.count);
      options.setReduceFunction(combine_function(reduce_, call.type, call.op));
      options.setTimeout(limit(call, call.count));
      gloo::allreduce(options);
    });
    divided(call, call.recv, call.count);
  }

  void broadcast(const Call& call, std::uint32_t tag) {
    if (call.count == 0) return;
    by_width(call, [&]<class U>() {
      gloo::BroadcastOptions options(context_);
      options.setTag(tag);
      if (is_root(call) && call.send != call.recv)
        options.setInput(elements<U>(call.send), call.count);
      options.setOutput(elements<U>(call.recv), call.count);
      options.setRoot(call.root);
      options.setTimeout(limit(call, call.count));
      gloo::broadcast(options);
    });
  }

  // Limit of one wait: Gloo's own is 30 s whatever the size, which a slow but healthy wire exceeds.
  milliseconds limit(const Call& call, std::size_t count) const {
    return deadline(count * size_of(call.type)).limit();
  }

  void* products(const Call& call, std::size_t count) {
    products_.resize(std::max(products_.size(), count * size_of(call.type)));
    return products_.data();
  }

  Connection connection_;
  std::shared_ptr<gloo::Context> context_;
  Algorithm algorithm_;
  Reduce reduce_;
  Capabilities capabilities_;
  std::vector<std::byte> scratch_;   // pieces of the ring
  std::vector<std::byte> products_;  // of mulsum
  std::uint32_t last_tag_ = own_tag;
  Workers workers_;  // last: their tasks use everything else
};

}  // namespace

std::unique_ptr<Communicator> make_communicator(Connection connection,
                                                const BackendOptions& options) {
  return std::make_unique<GlooCommunicator>(std::move(connection), options);
}

}  // namespace ccl_tests::gloo_module
