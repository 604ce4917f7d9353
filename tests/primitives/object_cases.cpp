#include <algorithm>
#include <functional>

#include "src/primitives/objects.hpp"
#include "tests/primitives/cases.hpp"

namespace ccl_tests::test {
namespace {

using primitives::Bytes;
using primitives::Objects;
using testing::ElementsAre;

// Rank `rank`'s object: bytes that no other rank's and no padding's are.
std::string object_of(int rank, std::size_t size, int seed = 0) {
  std::string text(size, '\0');
  for (std::size_t i = 0; i < size; ++i)
    text[i] = static_cast<char>((i * 31 + static_cast<std::size_t>(rank * 97 + seed * 13)) % 128);
  return text;
}

// Sizes by rank.
using Sizes = std::function<std::size_t(int rank)>;
const std::vector<std::pair<const char*, Sizes>>& size_laws() {
  static const std::vector<std::pair<const char*, Sizes>> laws = {
      {"all empty", [](int) { return std::size_t{0}; }},
      {"one byte each", [](int) { return std::size_t{1}; }},
      {"odd and equal", [](int) { return std::size_t{1237}; }},
      {"growing from empty", [](int rank) { return static_cast<std::size_t>(rank) * 77; }},
      {"rank 0 a thousand times longer",
       [](int rank) { return rank == 0 ? std::size_t{201'000} : std::size_t{201}; }},
      {"one empty among large ones",
       [](int rank) { return rank == 1 ? std::size_t{0} : std::size_t{100'000}; }},
      {"all but rank 0 have one", [](int rank) { return std::size_t{rank == 0 ? 0U : 5U}; }},
  };
  return laws;
}

std::size_t longest(const Sizes& sizes, int ranks) {
  std::size_t size = 0;
  for (int r = 0; r < ranks; ++r) size = std::max(size, sizes(r));
  return size;
}

void expect_everyones(const Objects& result, const Sizes& sizes, int ranks) {
  EXPECT_EQ(result.count(), static_cast<std::size_t>(ranks));
  for (std::size_t r = 0; r < result.count(); ++r) {
    const int rank = static_cast<int>(r);
    EXPECT_EQ(result.text(r), object_of(rank, sizes(rank))) << "object of rank " << r;
  }
}

void all_gather_object(World& world) {
  Objects result;  // one for all: what an earlier call left must not matter
  for (const auto& [law, sizes] : size_laws()) {
    SCOPED_TRACE(law);
    const std::string mine = object_of(world.rank(), sizes(world.rank()));
    primitives::all_gather_object(world.group, primitives::bytes_of(mine), result);
    expect_everyones(result, sizes, world.ranks());
    EXPECT_THAT(world.wire.taken(),
                ElementsAre("all_gather int64[1]",
                            fmt::format("all_gather uint8[{}]", longest(sizes, world.ranks()))));
  }
}

void gather_object(World& world) {
  Objects result;
  for (int dst = 0; dst < world.ranks(); ++dst) {
    for (const auto& [law, sizes] : size_laws()) {
      SCOPED_TRACE(law);
      const std::string mine = object_of(world.rank(), sizes(world.rank()));
      primitives::gather_object(world.group, primitives::bytes_of(mine), dst, result);
      if (world.rank() == dst) {
        expect_everyones(result, sizes, world.ranks());
      } else {
        EXPECT_EQ(result.count(), 0U);
      }
      EXPECT_THAT(world.wire.taken(), ElementsAre("all_gather int64[1]",
                                                  fmt::format("gather uint8[{}] to {}",
                                                              longest(sizes, world.ranks()), dst)));
    }
  }
}

// k objects, of 0, 1, 8, ... bytes, from every source.
void broadcast_object_list(World& world) {
  Objects result;
  for (int src = 0; src < world.ranks(); ++src) {
    for (const std::size_t k : {0, 1, 8, 1000}) {
      const auto size = [](std::size_t i) { return i * i % 1001; };
      std::vector<std::string> texts(k, "not the source's");
      std::size_t sum = 0;
      for (std::size_t i = 0; i < k; ++i) {
        if (world.rank() == src) texts[i] = object_of(src, size(i), static_cast<int>(i));
        sum += size(i);
      }
      std::vector<Bytes> objects;
      for (const std::string& text : texts) objects.push_back(primitives::bytes_of(text));
      primitives::broadcast_object_list(world.group, objects, src, result);
      EXPECT_EQ(result.count(), k);
      for (std::size_t i = 0; i < result.count(); ++i)
        EXPECT_EQ(result.text(i), object_of(src, size(i), static_cast<int>(i))) << "object " << i;
      EXPECT_THAT(world.wire.taken(),
                  ElementsAre(fmt::format("broadcast int64[{}] from {}", k, src),
                              fmt::format("broadcast uint8[{}] from {}", sum, src)));
    }
  }
}

void nobody_reads_padding(World& world) {
  const Sizes sizes = size_laws()[3].second;
  const std::string mine = object_of(world.rank(), sizes(world.rank()));
  Objects result;
  primitives::all_gather_object(world.group, primitives::bytes_of(mine), result);
  const std::size_t size = longest(sizes, world.ranks());
  for (std::size_t r = 0; r < result.count(); ++r) {
    const std::byte* const block = result.storage.data() + r * size;
    EXPECT_EQ(result.object(r).data(), block);
    const auto is_padding = [](std::byte b) { return b == primitives::padding; };
    EXPECT_TRUE(std::all_of(block + result.sizes[r], block + size, is_padding));
    EXPECT_TRUE(std::none_of(block, block + result.sizes[r], is_padding));
  }
}

void calls_of_one_size_do_not_allocate(World& world) {
  const std::string mine = object_of(world.rank(), 5000);
  Objects result;
  primitives::all_gather_object(world.group, primitives::bytes_of(mine), result);
  const std::byte* const storage = result.storage.data();
  const auto sizes = world.group.workspace().room<std::int64_t>("sizes", 1).data();
  primitives::all_gather_object(world.group, primitives::bytes_of(mine), result);
  EXPECT_EQ(result.storage.data(), storage);
  EXPECT_EQ(world.group.workspace().room<std::int64_t>("sizes", 1).data(), sizes);
}

void steps_are_timed(World& world) {
  world.group.times() = {};
  const std::string mine = object_of(world.rank(), 100'000);
  Objects result;
  const double start = world.wire.clock().now();
  primitives::all_gather_object(world.group, primitives::bytes_of(mine), result);
  const double whole = world.wire.clock().now() - start;
  const StepTimes& times = world.group.times();
  EXPECT_GE(times.sizes_s, 0);
  EXPECT_GT(times.payload_s, 0);
  EXPECT_GT(times.packing_s, 0);
  EXPECT_LE(times.total_s(), whole);
}

void lengths_that_cannot_be(World& world) {
  Objects result;
  world.wire.after = [&](const std::string& operation, const Call& call) {
    if (operation.ends_with("int64[1]")) static_cast<std::int64_t*>(call.recv)[0] = -5;
  };
  EXPECT_THAT(error_of([&] { primitives::all_gather_object(world.group, {}, result); }),
              testing::HasSubstr("came as -5 B"));
  world.wire.after = [](const std::string&, const Call&) {};
}

// Lengths that pass 32 bits, without the memory.
void places_of_large_objects(World& /*world*/) {
  constexpr std::size_t gib = std::size_t{1} << 30;
  std::vector<std::size_t> offsets(7);
  const std::vector<std::size_t> sizes{3 * gib, 0, 2 * gib + 1, 5};
  EXPECT_EQ(primitives::lay_out_packed(sizes, offsets), 5 * gib + 6);
  EXPECT_THAT(offsets, ElementsAre(0, 3 * gib, 3 * gib, 5 * gib + 1));
  EXPECT_EQ(primitives::lay_out_padded(sizes, offsets), 12 * gib);
  EXPECT_THAT(offsets, ElementsAre(0, 3 * gib, 6 * gib, 9 * gib));
  EXPECT_EQ(primitives::lay_out_packed({}, offsets), 0U);
  EXPECT_EQ(primitives::lay_out_padded({}, offsets), 0U);
  EXPECT_TRUE(offsets.empty());
}

void waste_of_padding(World& /*world*/) {
  using Counts = std::vector<std::size_t>;
  EXPECT_EQ(primitives::padding_waste(Counts{}), 1);
  EXPECT_EQ(primitives::padding_waste(Counts{0, 0, 0}), 1);
  EXPECT_EQ(primitives::padding_waste(Counts{7, 7, 7, 7}), 1);
  EXPECT_EQ(primitives::padding_waste(Counts{0, 0, 9}), 3);
  constexpr std::size_t three_gib = std::size_t{3} << 30;  // sums of lengths pass 32 bits
  EXPECT_EQ(primitives::padding_waste(Counts{three_gib, three_gib, 0}), 1.5);
}

}  // namespace

std::vector<Case> object_cases() {
  return {{"all_gather_object", all_gather_object},
          {"gather_object", gather_object},
          {"broadcast_object_list", broadcast_object_list},
          {"nobody reads padding", nobody_reads_padding},
          {"calls of one size do not allocate", calls_of_one_size_do_not_allocate},
          {"steps are timed", steps_are_timed},
          {"lengths that cannot be", lengths_that_cannot_be},
          {"places of large objects", places_of_large_objects},
          {"waste of padding", waste_of_padding}};
}

}  // namespace ccl_tests::test
