// The verifier's loops over host memory.
#include <algorithm>
#include <cstring>

#include "verify/loops.hpp"
#include "verify/width.hpp"

namespace ccl_tests::verify {
namespace {

class HostTable : public PlacedTable {
 public:
  explicit HostTable(const Table& table) : table_(table) {}
  const Table& table() const { return table_; }

 private:
  Table table_;
};

const Table& host(const PlacedTable& placed) {
  return static_cast<const HostTable&>(placed).table();
}

void add(Difference& all, Difference found, std::size_t offset) {
  if (found.wrong == 0) return;
  if (all.wrong == 0) all.first = found.first + offset;
  all.last = found.last + offset;
  all.wrong += found.wrong;
}

// Elements farther than `tolerance` from the table's.
template <class U>
Difference count_far(const std::byte* data, std::size_t count, const std::byte* table,
                     std::uint64_t tolerance) {
  // In one width and without branches, so that the compiler vectorises it: values of one sign are
  // as far apart as their bits; bits of values of different signs are far apart. (Expected averages
  // are never near 0.)
  const U near = static_cast<U>(tolerance);
  const U span = static_cast<U>(2 * near);
  U far = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const U difference =
        static_cast<U>(load<U>(data + i * sizeof(U)) - load<U>(table + i * sizeof(U)));
    far = static_cast<U>(far | static_cast<U>(static_cast<U>(difference + near) > span ? 1 : 0));
  }
  Difference result;
  if (far == 0) return result;
  for (std::size_t i = 0; i < count; ++i) {
    const U found = load<U>(data + i * sizeof(U));
    const U expected = load<U>(table + i * sizeof(U));
    if (ulp_distance(found, expected) <= tolerance) continue;
    if (result.wrong++ == 0) result.first = i;
    result.last = i;
  }
  return result;
}

Difference compare_block(const std::byte* data, std::size_t count, const Table& table,
                         std::size_t first, std::uint64_t tolerance) {
  const std::size_t width = table.width();
  Difference result;
  std::size_t done = 0;
  if (tolerance == 0) {
    const auto difference = table.first_difference(data, count, first);
    if (!difference) return result;
    done = *difference;
  }
  while (done < count) {
    const std::size_t piece = std::min(count - done, table.period());
    const std::byte* const expected = table.at(first + done);
    add(result,
        with_width(width,
                   [&]<class U>() {
                     return count_far<U>(data + done * width, piece, expected, tolerance);
                   }),
        done);
    done += piece;
  }
  return result;
}

class HostLoops : public Loops {
 public:
  std::unique_ptr<PlacedTable> place(const Table& table) override {
    return std::make_unique<HostTable>(table);
  }
  void fill(std::byte* out, std::size_t count, const PlacedTable& table,
            std::size_t first) override {
    host(table).copy_to(out, count, first);
  }
  std::vector<Difference> compare(std::span<const StridedRange> runs,
                                  std::uint64_t tolerance) override {
    std::vector<Difference> differences;
    differences.reserve(runs.size());
    for (const StridedRange& run : runs) {
      const Table& table = host(*run.table);
      Difference& result = differences.emplace_back();
      for (std::size_t block = 0; block < run.blocks; ++block) {
        const std::size_t start = block * run.stride;
        add(result,
            compare_block(run.data + start * table.width(), run.count, table,
                          run.first + block * run.table_stride, tolerance),
            start);
      }
    }
    return differences;
  }
  void set(std::byte* out, std::byte value, std::size_t bytes) override {
    std::memset(out, static_cast<int>(value), bytes);
  }
  void fill_constant(std::byte* out, std::byte value, std::size_t bytes) override {
    std::fill_n(out, bytes, value);
  }
  void fetch(std::byte* to, const std::byte* data, std::size_t bytes) override {
    std::memcpy(to, data, bytes);
  }
  void store(std::byte* out, const std::byte* from, std::size_t bytes) override {
    std::memcpy(out, from, bytes);
  }
};

}  // namespace

Loops& host_loops() {
  static HostLoops loops;
  return loops;
}

std::unique_ptr<Loops> make_host_loops() { return std::make_unique<HostLoops>(); }

}  // namespace ccl_tests::verify
