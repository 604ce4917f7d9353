#include "src/primitives/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>

#include "src/primitives/agreement.hpp"

namespace ccl_tests::primitives {

void check_places(std::span<const std::size_t> counts, std::size_t size) {
  const std::size_t all = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  const std::size_t end = std::min(all, size);
  for (std::size_t r = 0; r < counts.size(); ++r) {
    const std::size_t place = counts[r] * counts.size() + r;  // of the first that it does not have
    if (place < end) {
      throw Error(
          fmt::format("collect_results: rank {} has {} item{}, so that item {} of {} is missing", r,
                      counts[r], counts[r] == 1 ? "" : "s", place, end));
    }
  }
}

Bytes pack_list(Group& group, std::span<const Bytes> part) {
  std::size_t bytes = (1 + part.size()) * sizeof(std::uint64_t);
  for (const Bytes item : part) bytes += item.size();
  const auto packed = group.workspace().room<std::byte>("packed list", bytes);
  std::byte* to = packed.data();
  const auto put = [&](const void* from, std::size_t size) {
    if (size > 0) std::memcpy(to, from, size);
    to += size;
  };
  const std::uint64_t count = part.size();
  put(&count, sizeof count);
  for (const Bytes item : part) {
    const std::uint64_t size = item.size();
    put(&size, sizeof size);
  }
  for (const Bytes item : part) put(item.data(), item.size());
  return packed;
}

std::size_t PackedList::number(std::size_t i) const {
  std::uint64_t number = 0;
  std::memcpy(&number, packed_.data() + i * sizeof number, sizeof number);
  return number;
}

PackedList::PackedList(Bytes packed) : packed_(packed) {
  const std::size_t numbers = packed.size() / sizeof(std::uint64_t);
  if (numbers == 0 || number(0) > numbers - 1) throw Error("collect_results: a list came damaged");
  begin_ = (1 + count()) * sizeof(std::uint64_t);
}

Bytes PackedList::next() {
  const std::size_t size = number(++taken_);
  if (size > packed_.size() - begin_) throw Error("collect_results: a list came damaged");
  begin_ += size;
  return packed_.subspan(begin_ - size, size);
}

void put_together(const Group& group, std::size_t size, Results& results) {
  std::vector<PackedList> lists;
  std::vector<std::size_t> counts;
  for (std::size_t r = 0; r < results.parts.count(); ++r) {
    counts.push_back(lists.emplace_back(results.parts.object(r)).count());
  }
  check_places(counts, size);
  if (!group.is_main()) return;
  const std::size_t all = std::accumulate(counts.begin(), counts.end(), std::size_t{0});
  for (std::size_t i = 0; i < std::min(all, size); ++i)
    results.items.push_back(lists[i % lists.size()].next());
}

void collect_results(Group& group, std::span<const Bytes> part, std::size_t size,
                     Results& results) {
  StepClock before = group.step_clock();
  results.items.clear();
  const Bytes packed = pack_list(group, part);
  before.packing();
  all_gather_object(group, packed, results.parts);
  StepClock after = group.step_clock();
  put_together(group, size, results);
  after.packing();
}

void check_results(Group& group, std::size_t items, std::size_t size) {
  check_agreement(group, "check_results", {{"the size", std::to_string(size)}});
  std::vector<std::size_t> counts;
  for (const std::string& text : group.all_gather(std::to_string(items)))
    counts.push_back(std::stoull(text));
  check_places(counts, size);
}

}  // namespace ccl_tests::primitives
