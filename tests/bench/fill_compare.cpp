// Filling inputs and comparing results against memcpy of as many bytes, one core, 64 MiB, measured
// in turn in one loop: x_memcpy is how many times faster than the copy.
#include <benchmark/benchmark.h>

#include <cstring>
#include <memory>
#include <optional>
#include <string>

#include "src/core/clock.hpp"
#include "src/devices/host_limits.hpp"
#include "verify/verifier.hpp"

namespace {

using ccl_tests::DataType;
using ccl_tests::ReduceOp;

constexpr std::size_t bytes = std::size_t{64} << 20;

struct Case {
  DataType type;
  std::optional<ReduceOp> op;
  int ranks;
  bool compare;  // false: fill

  std::string name() const {
    return std::string(compare ? "compare/" : "fill/") + std::string(ccl_tests::name(type)) + '/' +
           (op ? std::string(ccl_tests::name(*op)) : "none") + '/' + std::to_string(ranks);
  }
};

void run(benchmark::State& state, const Case& c) {
  const auto pattern = std::make_shared<const ccl_tests::verify::Pattern>(c.type, c.op, c.ranks, 1);
  const ccl_tests::verify::Verifier verifier(pattern, 0);
  const std::size_t count = bytes / ccl_tests::size_of(c.type);
  using ccl_tests::host_buffer;
  const ccl_tests::Buffer from = host_buffer(bytes), to = host_buffer(bytes),
                          data = host_buffer(bytes);
  std::memset(from.data(), 1, bytes);
  const ccl_tests::ExpectedBlock segment{
      .recv_offset = 0,
      .count = count,
      .source_rank = c.op ? ccl_tests::ExpectedBlock::all_ranks : 1};
  // What a right result looks like: the table that compare reads.
  const std::size_t phase = pattern->phase(c.op ? 0 : 1, 0);
  pattern->expected().copy_to(data.data(), count, phase);
  double copying = 0;
  double working = 0;
  std::uint64_t wrong = 0;
  for (auto _ : state) {
    const double start = ccl_tests::monotonic_seconds();
    std::memcpy(to.data(), from.data(), bytes);
    const double copied = ccl_tests::monotonic_seconds();
    if (c.compare) {
      wrong += verifier.compare(data.data(), {&segment, 1}, 0).wrong;
    } else {
      verifier.fill_input(to.data(), count, 0);
    }
    const double end = ccl_tests::monotonic_seconds();
    benchmark::ClobberMemory();
    copying += copied - start;
    working += end - copied;
  }
  if (wrong != 0) state.SkipWithError("a right result was found wrong");
  state.counters["x_memcpy"] = copying / working;
  state.counters["memcpy_GB/s"] =
      static_cast<double>(bytes) * static_cast<double>(state.iterations()) / copying / 1e9;
}

void add(const Case& c) {
  benchmark::RegisterBenchmark(c.name().c_str(), [c](benchmark::State& state) { run(state, c); })
      ->Iterations(12)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace

int main(int argc, char** argv) {
  for (const bool compare : {false, true}) {
    for (const DataType type : ccl_tests::all_types()) {
      add({type, std::nullopt, 4, compare});
      for (const ReduceOp op : ccl_tests::all_ops()) add({type, op, 4, compare});
    }
    for (const DataType type : {DataType::int8, DataType::bfloat16, DataType::float32})
      add({type, ReduceOp::sum, 1024, compare});
  }
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
