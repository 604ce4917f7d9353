#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstring>
#include <vector>

#ifdef __CUDACC__
#include <thrust/execution_policy.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/system_error.h>
#endif

#include "verify/cuda_arena.hpp"
#include "verify/cuda_functors.hpp"
#include "verify/loops.hpp"
#include "verify/width.hpp"

namespace ccl_tests::verify {
namespace {

using cuda::FillVectors;
using cuda::Found;
using cuda::Vector;

// Calls each(k) for k < threads on a GPU, in no order, after what is on the stream. Returns before
// it is done. Compiled for the host (tests), runs in the order of a stream.
template <class F>
cudaError_t for_each_thread(std::uint64_t threads, const F& each, cudaStream_t stream) {
#ifdef __CUDACC__
  try {
    thrust::for_each_n(thrust::cuda::par_nosync.on(stream),
                       thrust::counting_iterator<std::uint64_t>(0), threads, each);
  } catch (const thrust::system_error& e) {
    return static_cast<cudaError_t>(e.code().value());
  }
  return cudaSuccess;
#else
  struct Work {
    std::uint64_t threads;
    F each;
  };
  const auto run = [](void* data) {
    auto* const work = static_cast<Work*>(data);
    for (std::uint64_t k = 0; k < work->threads; ++k) work->each(k);
    delete work;
  };
  return cudaLaunchHostFunc(stream, run, new Work{threads, each});
#endif
}

// x with (x * value) mod period == 1; the period is prime.
std::uint64_t inverse(std::uint64_t value, std::uint64_t period) {
  std::uint64_t result = 1;  // value^(period - 2), by Fermat's little theorem
  std::uint64_t power = value % period;
  for (std::uint64_t e = period - 2; e > 0; e /= 2) {
    if (e % 2 == 1) result = result * power % period;
    power = power * power % period;
  }
  return result;
}

// The table's elements, and its period as vectors: vector k has the elements from k * (elements of
// a vector) on.
class CudaTable : public PlacedTable {
 public:
  CudaTable(const Table& table, CudaArena& arena, cudaStream_t stream)
      : period_(static_cast<std::uint32_t>(table.period())),
        width_(table.width()),
        per_vector_(sizeof(Vector) / width_),
        inverse_(inverse(per_vector_, period_)),
        elements_(arena.take(period_ * width_)),
        vectors_(arena.take(period_ * sizeof(Vector))) {
    std::vector<std::byte> period(period_ * width_);
    table.copy_to(period.data(), period_, 0);
    std::vector<std::byte> vectors(period_ * sizeof(Vector));
    table.copy_to(vectors.data(), period_ * per_vector_, 0);
    const auto copy = [&](void* to, const std::vector<std::byte>& from) {
      check(cudaMemcpyAsync(to, from.data(), from.size(), cudaMemcpyHostToDevice, stream),
            "a table to the device");
    };
    copy(elements_.get(), period);
    copy(vectors_.get(), vectors);
    check(cudaStreamSynchronize(stream), "a table to the device");
  }

  std::uint32_t period() const { return period_; }
  std::size_t width() const { return width_; }
  std::size_t per_vector() const { return per_vector_; }
  const Vector* vectors() const { return reinterpret_cast<Vector*>(vectors_.get()); }
  template <class U>
  const U* elements() const {
    return reinterpret_cast<const U*>(elements_.get());
  }
  // The vector that begins with element `element`.
  std::uint32_t vector_at(std::size_t element) const {
    return static_cast<std::uint32_t>(element % period_ * inverse_ % period_);
  }

 private:
  std::uint32_t period_;
  std::size_t width_, per_vector_;
  std::uint64_t inverse_;
  CudaArena::Piece elements_, vectors_;
};

const CudaTable& placed(const PlacedTable& table) { return static_cast<const CudaTable&>(table); }

// `count` elements at `data`: elements before the first vector, vectors, elements behind the last.
struct Parts {
  std::size_t head, vectors, tail;
};

// The vectors begin at a multiple of `boundary` bytes.
Parts parts_of(const std::byte* data, std::size_t count, std::size_t width, std::size_t boundary) {
  constexpr std::size_t shortest = 64 * 1024;  // bytes: below, one launch is all that counts
  if (count * width < shortest) return {count, 0, 0};
  const std::size_t per_vector = sizeof(Vector) / width;
  const std::size_t beyond = reinterpret_cast<std::uintptr_t>(data) % boundary;
  const std::size_t head = beyond == 0 ? 0 : (boundary - beyond) / width;
  const std::size_t vectors = (count - head) / per_vector;
  return {head, vectors, count - head - vectors * per_vector};
}

class CudaLoops : public Loops {
 public:
  CudaLoops() {
    int device = 0;
    check(cudaGetDevice(&device), "the current device");
    const auto attribute = [&](cudaDeviceAttr which) {
      int value = 0;
      check(cudaDeviceGetAttribute(&value, which, device), "a device's attributes");
      return static_cast<std::uint64_t>(value);
    };
    resident_ = attribute(cudaDevAttrMultiProcessorCount) *
                attribute(cudaDevAttrMaxThreadsPerMultiProcessor);
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "a stream");
  }
  ~CudaLoops() override { cudaStreamDestroy(stream_); }

  std::unique_ptr<PlacedTable> place(const Table& table) override {
    return std::make_unique<CudaTable>(table, arena_, stream_);
  }

  void fill(std::byte* out, std::size_t count, const PlacedTable& table,
            std::size_t first) override {
    with_width(placed(table).width(), [&]<class U>() {
      fill_as<U>(reinterpret_cast<U*>(out), count, placed(table), first);
    });
    finish("filling");
  }

  std::vector<Difference> compare(std::span<const StridedRange> runs,
                                  std::uint64_t tolerance) override {
    if (runs.empty()) return {};
    const std::vector<Found> none(runs.size(), Found{0, ~0ULL, 0});
    Found* const found = room_for(runs.size());
    const std::size_t bytes = runs.size() * sizeof(Found);
    check(cudaMemcpyAsync(found, none.data(), bytes, cudaMemcpyHostToDevice, stream_), "comparing");
    for (std::size_t k = 0; k < runs.size(); ++k)
      with_width(placed(*runs[k].table).width(),
                 [&]<class U>() { compare_as<U>(runs[k], tolerance, found + k); });
    std::vector<Found> result(runs.size());
    check(cudaMemcpyAsync(result.data(), found, bytes, cudaMemcpyDeviceToHost, stream_),
          "comparing");
    finish("comparing");
    std::vector<Difference> differences;
    for (const Found& f : result)
      differences.push_back(f.wrong == 0 ? Difference{} : Difference{f.wrong, f.first, f.last});
    return differences;
  }

  void set(std::byte* out, std::byte value, std::size_t bytes) override {
    check(cudaMemsetAsync(out, static_cast<int>(value), bytes, stream_), "setting memory");
    finish("setting memory");
  }
  void fill_constant(std::byte* out, std::byte value, std::size_t bytes) override {
    Vector vector;
    std::memset(&vector, static_cast<int>(value), sizeof vector);
    launch(bytes / sizeof vector, cuda::FillConstant{reinterpret_cast<Vector*>(out), vector});
    finish("filling");
  }
  void fetch(std::byte* host, const std::byte* data, std::size_t bytes) override {
    check(cudaMemcpyAsync(host, data, bytes, cudaMemcpyDeviceToHost, stream_), "fetching");
    finish("fetching");
  }
  void store(std::byte* out, const std::byte* host, std::size_t bytes) override {
    check(cudaMemcpyAsync(out, host, bytes, cudaMemcpyHostToDevice, stream_), "storing");
    finish("storing");
  }

 private:
  // The largest multiple of the period that fills the device twice, without a rest that would run alone
  // at the end; or as many as there is work for.
  std::uint64_t lanes(std::uint64_t vectors, std::uint32_t period) const {
    const std::uint64_t full = std::max<std::uint64_t>(1, 2 * resident_ / period);
    return std::min(full, (vectors + period - 1) / period) * period;
  }

  template <class F>
  void launch(std::uint64_t threads, const F& each) const {
    if (threads == 0) return;
    check(for_each_thread(threads, each, stream_), "launching a kernel");
  }

  template <class U>
  void fill_as(U* out, std::size_t count, const CudaTable& table, std::size_t first) const {
    const Parts p =
        parts_of(reinterpret_cast<std::byte*>(out), count, sizeof(U), FillVectors::line);
    const std::size_t behind = p.head + p.vectors * table.per_vector();
    const auto elements = [&](std::size_t begin, std::size_t n) {
      launch(n, cuda::FillElements<U>{out + begin, table.elements<U>(), first + begin,
                                      table.period()});
    };
    elements(0, p.head);
    const FillVectors vectors{reinterpret_cast<Vector*>(out + p.head), table.vectors(), p.vectors,
                              table.period(), table.vector_at(first + p.head)};
    launch(vectors.threads(), vectors);
    elements(behind, p.tail);
  }

  template <class U>
  void compare_as(const StridedRange& run, std::uint64_t tolerance, Found* found) const {
    const CudaTable& table = placed(*run.table);
    const U* const data = reinterpret_cast<const U*>(run.data);
    const auto elements = [&](std::size_t begin, std::size_t count, std::size_t blocks) {
      launch(count * blocks,
             cuda::CompareElements<U>{data + begin, table.elements<U>(), run.first + begin, count,
                                      run.stride, run.table_stride, table.period(), begin,
                                      tolerance, found});
    };
    if (run.blocks > 1) {
      elements(0, run.count, run.blocks);
      return;
    }
    const Parts p = parts_of(run.data, run.count, sizeof(U), sizeof(Vector));
    const std::size_t behind = p.head + p.vectors * table.per_vector();
    elements(0, p.head, 1);
    const std::uint64_t threads = lanes(p.vectors, table.period());
    launch(p.vectors == 0 ? 0 : threads,
           cuda::CompareVectors<U>{reinterpret_cast<const Vector*>(data + p.head), table.vectors(),
                                   p.vectors, threads, table.period(),
                                   table.vector_at(run.first + p.head), p.head, tolerance, found});
    elements(behind, p.tail, 1);
  }

  void finish(const char* what) const { check(cudaStreamSynchronize(stream_), what); }

  Found* room_for(std::size_t runs) {
    if (runs > room_) {
      found_ = arena_.take(runs * sizeof(Found));
      room_ = runs;
    }
    return reinterpret_cast<Found*>(found_.get());
  }

  // The tables of two verifiers, one made before the other goes, and what they find: 0.2 MiB a table of most types.
  static constexpr std::size_t arena_bytes = 4 << 20;

  std::uint64_t resident_ = 0;  // threads that the device runs at a time
  cudaStream_t stream_ = nullptr;
  CudaArena arena_{arena_bytes};
  CudaArena::Piece found_;
  std::size_t room_ = 0;  // of found_
};

}  // namespace

std::unique_ptr<Loops> make_cuda_loops() { return std::make_unique<CudaLoops>(); }

}  // namespace ccl_tests::verify
