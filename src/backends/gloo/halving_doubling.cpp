#include "src/backends/gloo/halving_doubling.hpp"

#include <gloo/allreduce_halving_doubling.h>
#include <gloo/alltoall.h>

#include <algorithm>
#include <limits>
#include <vector>

#include "src/core/error.hpp"
#include "src/core/reduction.hpp"

namespace ccl_tests::gloo_module {
namespace {

constexpr std::size_t most_objects = 32;

template <class T, DataType type, ReduceOp op>
void accumulate(T* x, const T* y, std::size_t count) {
  static const Combine combine = combine_function(type, op);
  combine(x, x, y, count);
}

template <class T, DataType type>
const gloo::ReductionFunction<T>* reduction(ReduceOp op) {
  using F = gloo::ReductionFunction<T>;
  static const F sum(gloo::CUSTOM, &accumulate<T, type, ReduceOp::sum>);
  static const F prod(gloo::CUSTOM, &accumulate<T, type, ReduceOp::prod>);
  static const F min(gloo::CUSTOM, &accumulate<T, type, ReduceOp::min>);
  static const F max(gloo::CUSTOM, &accumulate<T, type, ReduceOp::max>);
  static const F band(gloo::CUSTOM, &accumulate<T, type, ReduceOp::band>);
  static const F bor(gloo::CUSTOM, &accumulate<T, type, ReduceOp::bor>);
  static const F bxor(gloo::CUSTOM, &accumulate<T, type, ReduceOp::bxor>);
  switch (op) {
    case ReduceOp::sum:
    case ReduceOp::avg:
    case ReduceOp::mulsum: return &sum;
    case ReduceOp::prod: return &prod;
    case ReduceOp::min: return &min;
    case ReduceOp::max: return &max;
    case ReduceOp::band: return &band;
    case ReduceOp::bor: return &bor;
    case ReduceOp::bxor: return &bxor;
  }
  return nullptr;
}

template <class T, DataType type>
std::unique_ptr<gloo::Algorithm> make(const std::shared_ptr<gloo::Context>& context, void* data,
                                      std::size_t count, ReduceOp op) {
  return std::make_unique<gloo::AllreduceHalvingDoubling<T>>(
      context, std::vector<T*>{static_cast<T*>(data)}, static_cast<int>(count),
      reduction<T, type>(op));
}

std::unique_ptr<gloo::Algorithm> make_any(const std::shared_ptr<gloo::Context>& context, void* data,
                                          std::size_t count, DataType type, ReduceOp op) {
  switch (type) {
    case DataType::int8: return make<std::int8_t, DataType::int8>(context, data, count, op);
    case DataType::uint8: return make<std::uint8_t, DataType::uint8>(context, data, count, op);
    case DataType::int32: return make<std::int32_t, DataType::int32>(context, data, count, op);
    case DataType::uint32: return make<std::uint32_t, DataType::uint32>(context, data, count, op);
    case DataType::int64: return make<std::int64_t, DataType::int64>(context, data, count, op);
    case DataType::uint64: return make<std::uint64_t, DataType::uint64>(context, data, count, op);
    case DataType::half: return make<Half, DataType::half>(context, data, count, op);
    case DataType::float32: return make<float, DataType::float32>(context, data, count, op);
    case DataType::float64: return make<double, DataType::float64>(context, data, count, op);
    case DataType::bfloat16: return make<BFloat16, DataType::bfloat16>(context, data, count, op);
    case DataType::f8e4m3: return make<Float8E4M3, DataType::f8e4m3>(context, data, count, op);
    case DataType::f8e5m2: return make<Float8E5M2, DataType::f8e5m2>(context, data, count, op);
  }
  return nullptr;
}

}  // namespace

// An object that goes while its last messages are still queued would leave Gloo with dangling
// pointers. Messages of a pair keep their order, so once something newer has passed between all
// pairs, the queues hold nothing of it.
void HalvingDoubling::clear() {
  std::vector<char> send(static_cast<std::size_t>(context_->size)), recv(send.size());
  gloo::AlltoallOptions options(context_);
  options.setInput(send.data(), send.size());
  options.setOutput(recv.data(), recv.size());
  gloo::alltoall(options);
  entries_.clear();
}

void HalvingDoubling::all_reduce(void* data, std::size_t count, DataType type, ReduceOp op) {
  if (count * size_of(type) > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw Unsupported(
        "--gloo-algorithm halving_doubling: Gloo's class counts bytes in an int; less than 2 GiB");
  }
  const Key key{data, count, type, op};
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [&](const Entry& e) { return e.key == key; });
  if (found != entries_.end()) {
    entries_.splice(entries_.begin(), entries_, found);  // run() below takes the first
  } else {
    if (entries_.size() >= most_objects) clear();
    entries_.push_front({key, make_any(context_, data, count, type, op)});
  }
  entries_.front().algorithm->run();
}

}  // namespace ccl_tests::gloo_module
