#include "src/primitives/objects.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace ccl_tests::primitives {
namespace {

std::size_t largest(std::span<const std::size_t> sizes) {
  return sizes.empty() ? 0 : *std::max_element(sizes.begin(), sizes.end());
}

// Lengths are the library's word: what cannot be must not reach the memory.
void take_sizes(std::span<const std::int64_t> wire, Objects& result) {
  constexpr std::int64_t most = std::int64_t{1} << 46;  // of 65536 together 2^62
  result.sizes.resize(wire.size());
  for (std::size_t i = 0; i < wire.size(); ++i) {
    if (wire[i] < 0 || wire[i] > most)
      throw Error(fmt::format("length {} of {} came as {} B", i, wire.size(), wire[i]));
    result.sizes[i] = static_cast<std::size_t>(wire[i]);
  }
}

void check_own_size(std::size_t delivered, std::size_t size) {
  if (delivered != size)
    throw Error(fmt::format("this rank's length of {} B came back as {} B", size, delivered));
}

// Every rank's size, by rank, in result.sizes. Returns the largest.
std::size_t all_gather_sizes(Group& group, std::size_t size, Objects& result) {
  const auto mine = group.workspace().room<std::int64_t>("own size", 1);
  const auto all =
      group.workspace().room<std::int64_t>("sizes", static_cast<std::size_t>(group.ranks()));
  mine[0] = static_cast<std::int64_t>(size);
  group.run(&Communicator::all_gather, group.call(mine.data(), all.data(), 1, DataType::int64));
  take_sizes(all, result);
  check_own_size(result.sizes[static_cast<std::size_t>(group.rank())], size);
  return largest(result.sizes);
}

const std::byte* padded(Group& group, Bytes object, std::size_t size) {
  std::byte* const bytes = group.workspace().room<std::byte>("padded object", size).data();
  std::copy(object.begin(), object.end(), bytes);
  std::fill(bytes + object.size(), bytes + size, padding);
  return bytes;
}

}  // namespace

std::size_t lay_out_packed(std::span<const std::size_t> sizes, std::vector<std::size_t>& offsets) {
  offsets.resize(sizes.size());
  std::exclusive_scan(sizes.begin(), sizes.end(), offsets.begin(), std::size_t{0});
  return sizes.empty() ? 0 : offsets.back() + sizes.back();
}

std::size_t lay_out_padded(std::span<const std::size_t> sizes, std::vector<std::size_t>& offsets) {
  const std::size_t size = largest(sizes);
  offsets.resize(sizes.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) offsets[i] = i * size;
  return sizes.size() * size;
}

void broadcast_object_list(Group& group, std::span<const Bytes> objects, int src, Objects& result) {
  StepClock clock = group.step_clock();
  const auto sizes = group.workspace().room<std::int64_t>("sizes", objects.size());
  const Call announce =
      group.call(sizes.data(), sizes.data(), sizes.size(), DataType::int64, ReduceOp::sum, src);
  std::transform(objects.begin(), objects.end(), sizes.begin(),
                 [](Bytes object) { return static_cast<std::int64_t>(object.size()); });
  clock.packing();
  group.run(&Communicator::broadcast, announce);
  clock.sizes();
  take_sizes(sizes, result);
  for (std::size_t i = 0; group.rank() == src && i < objects.size(); ++i)
    check_own_size(result.sizes[i], objects[i].size());
  const std::size_t total = lay_out_packed(result.sizes, result.offsets);
  std::byte* const storage = result.storage.room(total);
  for (std::size_t i = 0; group.rank() == src && i < objects.size(); ++i)
    std::copy(objects[i].begin(), objects[i].end(), storage + result.offsets[i]);
  clock.packing();
  group.run(&Communicator::broadcast,
            group.call(storage, storage, total, DataType::uint8, ReduceOp::sum, src));
  clock.payload();
}

void all_gather_object(Group& group, Bytes object, Objects& result) {
  StepClock clock = group.step_clock();
  const std::size_t size = all_gather_sizes(group, object.size(), result);
  clock.sizes();
  result.storage.room(lay_out_padded(result.sizes, result.offsets));
  const std::byte* const mine = padded(group, object, size);
  clock.packing();
  group.run(&Communicator::all_gather,
            group.call(mine, result.storage.data(), size, DataType::uint8));
  clock.payload();
}

void gather_object(Group& group, Bytes object, int dst, Objects& result) {
  StepClock clock = group.step_clock();
  Call call = group.call(nullptr, nullptr, 0, DataType::uint8, ReduceOp::sum, dst);
  call.count = all_gather_sizes(group, object.size(), result);
  clock.sizes();
  if (group.rank() == dst) {
    call.recv = result.storage.room(lay_out_padded(result.sizes, result.offsets));
  } else {
    result.clear();
  }
  call.send = padded(group, object, call.count);
  clock.packing();
  group.run(&Communicator::gather, call);
  clock.payload();
}

double padding_waste(std::span<const std::size_t> sizes) {
  const double sum = std::accumulate(sizes.begin(), sizes.end(), 0.0);
  if (sum == 0) return 1;
  return static_cast<double>(sizes.size()) * static_cast<double>(largest(sizes)) / sum;
}

}  // namespace ccl_tests::primitives
