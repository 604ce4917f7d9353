#include "src/devices/load.hpp"

#include <fmt/format.h>
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "src/core/clock.hpp"
#include "src/core/thread.hpp"
#include "src/devices/host_limits.hpp"

namespace ccl_tests {
namespace {

constexpr std::size_t matrix_side = 64;         // of a matrix: three are 48 KiB
constexpr std::size_t triad_floats = 16 << 10;  // of each array in a piece of work
constexpr std::size_t copy_bytes = 1 << 20;     // of a piece of work

// A piece of work, again and again, and how much it is.
struct LoadWork {
  std::function<void()> piece;
  double each = 0;
};

float* floats(const Buffer& buffer) { return reinterpret_cast<float*>(buffer.data()); }

// c = a b, in blocks of rows of b that stay in the first cache.
void multiply_matrices(const float* a, const float* b, float* c) {
  constexpr std::size_t block = 16;
  std::fill_n(c, matrix_side * matrix_side, 0.0F);
  for (std::size_t first = 0; first < matrix_side; first += block)
    for (std::size_t i = 0; i < matrix_side; ++i)
      for (std::size_t k = first; k < first + block; ++k) {
        const float factor = a[i * matrix_side + k];
        for (std::size_t j = 0; j < matrix_side; ++j)
          c[i * matrix_side + j] += factor * b[k * matrix_side + j];
      }
}

LoadWork matrix_product() {
  constexpr std::size_t size = matrix_side * matrix_side;
  const auto memory = std::make_shared<Buffer>(host_buffer(3 * size * sizeof(float)));
  float* const a = floats(*memory);
  std::fill_n(a, 2 * size, 0.5F);
  return {[memory, a] { multiply_matrices(a, a + size, a + 2 * size); },
          2.0 * static_cast<double>(size * matrix_side)};
}

LoadWork triad(std::size_t bytes) {
  const std::size_t length = bytes / 3 / sizeof(float) / triad_floats * triad_floats;
  const auto memory = std::make_shared<Buffer>(host_buffer(3 * length * sizeof(float)));
  float* const a = floats(*memory);
  std::fill_n(a, 3 * length, 1.0F);  // touches the pages
  const auto piece = [memory, a, length, at = std::size_t{0}]() mutable {
    float* const to = a + at;
    const float* const b = to + length;
    const float* const c = b + length;
    for (std::size_t i = 0; i < triad_floats; ++i) to[i] = b[i] + 0.5F * c[i];
    at = (at + triad_floats) % length;
  };
  return {piece, static_cast<double>(3 * triad_floats * sizeof(float))};
}

LoadWork host_gpu_copies(std::unique_ptr<Device> gpu, std::size_t bytes) {
  struct Ends {
    std::unique_ptr<Device> gpu;
    Buffer host, device;
  };
  const auto ends = std::make_shared<Ends>();
  ends->host = host_buffer(bytes);
  std::memset(ends->host.data(), 1, bytes);
  ends->device = gpu->allocate(bytes);
  ends->gpu = std::move(gpu);
  const auto piece = [ends, bytes, at = std::size_t{0}, to_gpu = true]() mutable {
    std::byte* const host = ends->host.data() + at;
    std::byte* const device = ends->device.data() + at;
    ends->gpu->use();  // the load's thread makes it its own
    ends->gpu->copy(to_gpu ? device : host, to_gpu ? host : device, copy_bytes);
    at = (at + copy_bytes) % bytes;
    if (at == 0) to_gpu = !to_gpu;
  };
  return {piece, static_cast<double>(copy_bytes)};
}

class ThreadLoad : public Load {
 public:
  explicit ThreadLoad(LoadWork work) : work_(std::move(work)) {
    thread_ = start_thread([this] { run(); });
    ::pthread_setname_np(thread_.native_handle(), "ccl-load");
  }
  ~ThreadLoad() override {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
      wanted_ = false;
    }
    changed_.notify_all();
    thread_.join();
  }
  ThreadLoad(const ThreadLoad&) = delete;
  ThreadLoad& operator=(const ThreadLoad&) = delete;

  void resume() override {
    std::unique_lock lock(mutex_);
    wanted_ = true;
    begun_ = false;
    changed_.notify_all();
    changed_.wait(lock, [&] { return begun_ || error_; });
    if (error_) std::rethrow_exception(error_);
  }
  void pause() override {
    wanted_ = false;
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !works_ || error_; });
    if (error_) std::rethrow_exception(error_);
  }
  double done_at(double seconds) const override { return work_.each * pieces_at(stamps_, seconds); }

 private:
  void run() {
    try {
      while (wait_until_wanted()) work();
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = std::current_exception();
      works_ = false;
      changed_.notify_all();
    }
  }
  // Returns false if the thread is to end.
  bool wait_until_wanted() {
    std::unique_lock lock(mutex_);
    works_ = false;
    changed_.notify_all();
    changed_.wait(lock, [&] { return wanted_ || ending_; });
    works_ = !ending_;
    return works_;
  }
  void work() {
    stamps_.assign(1, monotonic_seconds());
    do {
      work_.piece();
      stamps_.push_back(monotonic_seconds());
      if (stamps_.size() == 2) say_begun();
    } while (wanted_);
  }
  void say_begun() {
    const std::lock_guard lock(mutex_);
    begun_ = true;
    changed_.notify_all();
  }

  LoadWork work_;
  std::atomic<bool> wanted_ = false;
  std::vector<double> stamps_;  // of the last run: the thread's while it works
  std::mutex mutex_;
  std::condition_variable changed_;
  bool works_ = true, begun_ = false, ending_ = false;
  std::exception_ptr error_;
  std::thread thread_;
};

}  // namespace

std::size_t load_bytes(LoadKind kind, std::size_t last_cache, std::size_t ranks) {
  constexpr std::size_t usual_cache = 64 << 20;
  constexpr std::size_t copied = 16 << 20;
  constexpr std::size_t least = 3 * sizeof(float) * triad_floats;
  switch (kind) {
    case LoadKind::cpu: return 3 * matrix_side * matrix_side * sizeof(float);
    case LoadKind::copy: return copied;
    case LoadKind::memory: break;
  }
  const std::size_t all = 4 * (last_cache > 0 ? last_cache : usual_cache);
  const std::size_t share = all / std::max<std::size_t>(1, ranks);
  return std::max<std::size_t>(1, (share + least - 1) / least) * least;
}

std::string about(LoadKind kind, std::size_t bytes) {
  switch (kind) {
    case LoadKind::cpu: return fmt::format("a product of float matrices of {0} x {0}", matrix_side);
    case LoadKind::memory: return fmt::format("a triad through {} MiB", bytes >> 20);
    case LoadKind::copy: return fmt::format("copies of {} MiB between host and GPU", bytes >> 20);
  }
  return {};
}

std::unique_ptr<Load> start_load(LoadKind kind, std::size_t bytes, std::unique_ptr<Device> gpu) {
  const auto work = [&] {
    switch (kind) {
      case LoadKind::cpu: return matrix_product();
      case LoadKind::memory: return triad(bytes);
      case LoadKind::copy: break;
    }
    return host_gpu_copies(std::move(gpu), bytes);
  };
  return std::make_unique<ThreadLoad>(work());
}

}  // namespace ccl_tests
