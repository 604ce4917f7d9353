// The verifier's kernels, run as C++ over the stand-in's memory: what they fill is what the host's
// loops fill, and what they find is what those find.
#include <cuda_runtime_api.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

#include "verify/cuda_functors.hpp"
#include "verify/loops.hpp"

namespace ccl_tests::verify {
namespace {

// A table of random bits with a prime period.
Table random_table(std::size_t period, std::size_t width, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(period * width);
  for (std::byte& b : bytes) b = static_cast<std::byte>(random());
  return {bytes, width};
}

class DeviceMemory {
 public:
  explicit DeviceMemory(std::size_t bytes) {
    EXPECT_EQ(cudaMalloc(reinterpret_cast<void**>(&data_), bytes), cudaSuccess);
  }
  ~DeviceMemory() { cudaFree(data_); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  std::byte* data() const { return data_; }

 private:
  std::byte* data_ = nullptr;
};

// Both kinds of loops over the same data: `count` elements that begin `shift` elements behind an
// aligned address.
struct Both {
  Both(const Table& t, std::size_t n, std::size_t shift)
      : table(t),
        count(n),
        room((n + shift + 1) * t.width()),
        memory(room),
        on_device(memory.data() + shift * t.width()),
        device(make_cuda_loops()),
        device_table(device->place(t)),
        host_table(host_loops().place(t)) {}

  std::vector<std::byte> fetched() const {
    std::vector<std::byte> bytes(count * table.width());
    if (!bytes.empty()) device->fetch(bytes.data(), on_device, bytes.size());
    return bytes;
  }

  // Of the run over `data`, which goes to the device first.
  void expect_same_findings(StridedRange run, const std::vector<std::byte>& data,
                            std::uint64_t tolerance) {
    if (!data.empty()) device->store(on_device, data.data(), data.size());
    run.data = on_device;
    run.table = device_table.get();
    const Difference found = device->compare({&run, 1}, tolerance).front();
    run.data = data.data();
    run.table = host_table.get();
    const Difference expected = host_loops().compare({&run, 1}, tolerance).front();
    EXPECT_EQ(found.wrong, expected.wrong);
    EXPECT_EQ(found.first, expected.first);
    EXPECT_EQ(found.last, expected.last);
  }

  const Table& table;
  std::size_t count, room;
  DeviceMemory memory;
  std::byte* on_device;
  std::unique_ptr<Loops> device;
  std::unique_ptr<PlacedTable> device_table, host_table;
};

struct Case {
  std::size_t period, width;
};

class CudaLoops : public testing::TestWithParam<Case> {
 protected:
  Table table_ = random_table(GetParam().period, GetParam().width, 7);
  std::size_t width_ = GetParam().width;
  std::mt19937_64 random_{11};

  // Below, at and above what is done by vectors, with ends of every length.
  std::vector<std::size_t> counts() const {
    const std::size_t by_vectors = 64 * 1024 / width_;
    return {0,
            1,
            2,
            3,
            17,
            4093,
            by_vectors - 1,
            by_vectors,
            by_vectors + 1,
            by_vectors + 15,
            3 * by_vectors + 7};
  }
};

// The memory around what is filled stays as it was.
TEST_P(CudaLoops, FillWhatTheHostFills) {
  constexpr std::byte before{0x5b};
  std::vector<std::size_t> lengths = counts();
  // One piece of FillVectors and its ends, several pieces, and less than one behind them.
  const std::size_t part = cuda::FillVectors::line * GetParam().period / width_;
  const std::size_t piece = cuda::FillVectors::stores * part;
  for (const std::size_t n : {part, piece, piece + part, 3 * piece})
    lengths.insert(lengths.end(), {n - 1, n, n + 1, n + 300});
  const std::size_t line = cuda::FillVectors::line / width_;
  const Both both(table_, *std::max_element(lengths.begin(), lengths.end()) + 2 * line, 0);
  for (const std::size_t count : lengths) {
    const std::size_t bytes = (count + 2 * line) * width_;
    for (const std::size_t shift :
         {std::size_t{0}, std::size_t{1}, std::size_t{3}, 16 / width_, line - 1}) {
      const std::size_t first = random_() % 100'000;
      std::vector<std::byte> expected(bytes, before);
      host_loops().fill(expected.data() + shift * width_, count, *both.host_table, first);
      both.device->set(both.on_device, before, bytes);
      both.device->fill(both.on_device + shift * width_, count, *both.device_table, first);
      std::vector<std::byte> found(bytes);
      both.device->fetch(found.data(), both.on_device, bytes);
      EXPECT_TRUE(found == expected) << count << " elements, shifted by " << shift;
    }
  }
}

// How many threads store each vector, and how far apart a thread's vectors lie.
TEST(FillVectors, StoreEachVectorOnce) {
  constexpr std::uint32_t period = 5;
  const std::vector<cuda::Vector> table(period, cuda::Vector{1, 1});
  for (const std::uint64_t vectors : {0, 1, 39, 40, 41, 159, 160, 161, 199, 200, 201, 500}) {
    std::vector<int> stored(vectors);
    std::vector<cuda::Vector> data(vectors);
    const cuda::FillVectors fill{data.data(), table.data(), vectors, period, 3};
    for (std::uint64_t thread = 0; thread < fill.threads(); ++thread) {
      std::fill(data.begin(), data.end(), cuda::Vector{0, 0});
      fill(thread);
      std::vector<std::uint64_t> its;
      for (std::uint64_t i = 0; i < vectors; ++i)
        if (data[i].low != 0) its.push_back(i);
      ASSERT_FALSE(its.empty()) << "thread " << thread << " of " << vectors << " vectors";
      for (std::size_t k = 0; k < its.size(); ++k) {
        EXPECT_EQ(its[k], its[0] + k * 40);  // whole lines, and whole periods
        ++stored[its[k]];
      }
    }
    EXPECT_EQ(stored, std::vector<int>(vectors, 1));
  }
}

TEST_P(CudaLoops, FindWhatTheHostFinds) {
  for (const std::size_t count : counts()) {
    for (const std::size_t shift : {0, 1, 3}) {
      SCOPED_TRACE(testing::Message() << count << " elements, shifted by " << shift);
      Both both(table_, count, shift);
      const std::size_t first = random_() % 100'000;
      std::vector<std::byte> data(count * width_);
      host_loops().fill(data.data(), count, *both.host_table, first);
      const verify::StridedRange run{.first = first, .count = count};
      both.expect_same_findings(run, data, 0);
      if (count == 0) continue;
      for (const std::size_t at : {std::size_t{0}, data.size() - 1, random_() % data.size()}) {
        data[at] ^= std::byte{1} << (random_() % 8);
        both.expect_same_findings(run, data, 0);
      }
      both.expect_same_findings(run, data, 2);
      const verify::StridedRange elsewhere{.first = first + 1, .count = count};
      both.expect_same_findings(elsewhere, data, 0);
    }
  }
}

TEST_P(CudaLoops, FindWhatTheHostFindsInStridedRuns) {
  const std::size_t count = 30'000;
  Both both(table_, count, 1);
  std::vector<std::byte> data(count * width_);
  host_loops().fill(data.data(), count, *both.host_table, 5);
  const verify::StridedRange run{
      .first = 5, .count = 3, .blocks = 1000, .stride = 30, .table_stride = 30};
  both.expect_same_findings(run, data, 0);
  for (const std::size_t element : {0, 1, 3, 30, 29'972, 29'973}) {  // some lie between the blocks
    data[element * width_] ^= std::byte{1};
    both.expect_same_findings(run, data, 0);
  }
  const verify::StridedRange other{
      .first = 5, .count = 3, .blocks = 1000, .stride = 30, .table_stride = 31};
  both.expect_same_findings(other, data, 0);
}

TEST_P(CudaLoops, CompareManyRunsAtOnce) {
  Both both(table_, 40'000, 0);
  std::vector<std::byte> data(both.count * width_);
  host_loops().fill(data.data(), both.count, *both.host_table, 0);
  data[20'000 * width_] ^= std::byte{1};
  both.device->store(both.on_device, data.data(), data.size());
  std::vector<verify::StridedRange> runs;
  for (std::size_t k = 0; k < 40; ++k)
    runs.push_back({.data = both.on_device + k * 1000 * width_,
                    .table = both.device_table.get(),
                    .first = k * 1000,
                    .count = 1000});
  const auto found = both.device->compare(runs, 0);
  for (std::size_t k = 0; k < 40; ++k) EXPECT_EQ(found[k].wrong, k == 20 ? 1U : 0U) << k;
  EXPECT_EQ(found[20].first, 0U);
  EXPECT_TRUE(both.device->compare({}, 0).empty());
}

TEST_P(CudaLoops, SetMemory) {
  Both both(table_, 1000, 0);
  both.device->set(both.on_device, std::byte{0xa5}, 1000 * width_);
  EXPECT_EQ(both.fetched(), std::vector<std::byte>(1000 * width_, std::byte{0xa5}));
}

TEST_P(CudaLoops, FillWithAConstant) {
  Both both(table_, 1000, 0);
  const std::size_t bytes = 1000 * width_ / 16 * 16;
  both.device->set(both.on_device, std::byte{0xa5}, 1000 * width_);
  both.device->fill_constant(both.on_device, std::byte{0x3c}, bytes);
  std::vector<std::byte> expected(1000 * width_, std::byte{0xa5});
  std::fill_n(expected.data(), bytes, std::byte{0x3c});
  EXPECT_EQ(both.fetched(), expected);
}

INSTANTIATE_TEST_SUITE_P(Widths, CudaLoops,
                         testing::Values(Case{4093, 1}, Case{4093, 2}, Case{4093, 4}, Case{4093, 8},
                                         Case{8209, 1}, Case{8209, 4}, Case{3, 1}, Case{3, 2},
                                         Case{3, 4}, Case{3, 8}),
                         [](const auto& of) {
                           return "Period" + std::to_string(of.param.period) + "Width" +
                                  std::to_string(of.param.width);
                         });

}  // namespace
}  // namespace ccl_tests::verify
