// The specs' sizes against nccl-tests' table.
#include <gtest/gtest.h>

#include "collectives/collectives.hpp"

namespace ccl_tests {
namespace {

using namespace collectives;

const CollectiveOptions defaults;

Shape shape(std::size_t count, std::size_t width, int rank, int ranks, int root = 0) {
  return {count, width, {rank, ranks}, defaults, root};
}

// nccl-tests: A(x) rounds a rank's elements down to 16 bytes.
std::size_t aligned(std::size_t count, std::size_t width) { return count & ~(16 / width - 1); }

struct Line {  // of the table; c: requested elements, b: A(c / n)
  const Collective& collective;
  std::size_t send, recv, param, wire;  // elements
  bool in_place;
  std::size_t send_offset, recv_offset;  // elements, times rank
  double factor;
};

std::vector<Line> table(std::size_t c, std::size_t width, std::size_t n) {
  const std::size_t b = aligned(c / n, width);
  const double share = static_cast<double>(n - 1) / static_cast<double>(n);
  return {{all_reduce, c, c, c, c, true, 0, 0, 2 * share},
          {reduce, c, c, c, c, true, 0, 0, 1},
          {broadcast, c, c, c, c, true, 0, 0, 1},
          {sendrecv, c, c, c, c, false, 0, 0, 1},
          {all_gather, b, b * n, b, b * n, true, b, 0, share},
          {reduce_scatter, b * n, b, b, b * n, true, 0, b, share},
          {alltoall, b * n, b * n, b, b * n, false, 0, 0, share},
          {gather, b, b * n, b, b * n, true, b, 0, share},
          {scatter, b * n, b, b, b * n, true, 0, b, share},
          {hypercube, b, b * n, b, b * (n - 1), true, b, 0, 1}};
}

TEST(Layouts, AreNcclTests) {
  for (const std::size_t width : {1, 2, 4, 8}) {
    for (const std::size_t c : {0, 1, 2, 15, 16, 17, 63, 64, 1000, 12345}) {
      for (const int n : {1, 2, 3, 4, 8, 9}) {
        for (const Line& line : table(c, width, static_cast<std::size_t>(n))) {
          for (const int rank : {0, n - 1}) {
            SCOPED_TRACE(std::string(line.collective.name) + " of " + std::to_string(c) + " on " +
                         std::to_string(n));
            // A rooted collective's root has both buffers.
            const Shape s = shape(c, width, rank, n, rank);
            const Layout layout = line.collective.layout(s);
            EXPECT_EQ(layout.send, line.send);
            EXPECT_EQ(layout.recv, line.recv);
            EXPECT_EQ(layout.count, line.param);
            EXPECT_EQ(layout.table_count, line.param);
            EXPECT_EQ(layout.algbw_bytes, line.wire * width);
            EXPECT_DOUBLE_EQ(line.collective.bus_factor(s), line.factor);
            ASSERT_EQ(layout.in_place.has_value(), line.in_place);
            if (!line.in_place) continue;
            EXPECT_EQ(layout.in_place->send, line.send_offset * static_cast<std::size_t>(rank));
            EXPECT_EQ(layout.in_place->recv, line.recv_offset * static_cast<std::size_t>(rank));
          }
        }
      }
    }
  }
}

TEST(Layouts, OthersThanTheRootNeedOneBuffer) {
  EXPECT_EQ(broadcast.layout(shape(64, 4, 1, 4, 2)).send, 0U);
  EXPECT_EQ(scatter.layout(shape(64, 4, 1, 4, 2)).send, 0U);
  EXPECT_EQ(gather.layout(shape(64, 4, 1, 4, 2)).recv, 0U);
  EXPECT_TRUE(reduce.expected(shape(64, 4, 1, 4, 2)).empty());
  EXPECT_TRUE(gather.expected(shape(64, 4, 1, 4, 2)).empty());
}

TEST(Layouts, ShorterThan16BytesPerRankIsSize0) {
  for (const Collective* c :
       {&all_gather, &reduce_scatter, &alltoall, &gather, &scatter, &hypercube}) {
    const Layout layout = c->layout(shape(15, 4, 0, 4));  // 60 bytes on 4 ranks
    EXPECT_EQ(layout.send + layout.recv + layout.algbw_bytes + layout.table_count, 0U) << c->name;
  }
  EXPECT_EQ(all_gather.layout(shape(16, 4, 0, 4)).send, 4U);
}

TEST(Layouts, FlagsAreNcclTests) {
  for (const Collective* c : {&all_reduce, &reduce, &reduce_scatter})
    EXPECT_TRUE(c->domain.reduces);
  for (const Collective* c : {&broadcast, &reduce, &gather, &scatter})
    EXPECT_TRUE(c->domain.rooted);
  for (const Collective* c : {&all_gather, &alltoall, &broadcast, &gather, &sendrecv}) {
    EXPECT_FALSE(c->domain.reduces) << c->name;
  }
  for (const Collective* c : {&all_reduce, &all_gather, &reduce_scatter})
    EXPECT_FALSE(c->domain.rooted);
}

TEST(Layouts, HypercubeNeedsAPowerOfTwo) {
  for (int n = 1; n <= 64; ++n) {
    EXPECT_EQ(hypercube.unsupported(shape(64, 4, 0, n)).has_value(), (n & (n - 1)) != 0) << n;
  }
}

TEST(Layouts, OfVectorCollectivesHaveCounts) {
  for (const Collective* c : collectives::all()) {
    if (c->domain.paired) continue;
    const bool vector = c->name.ends_with('v') && c->name != "sendrecv";
    EXPECT_EQ(c->layout(shape(64, 4, 0, 4)).counts.has_value(), vector) << c->name;
  }
}

Counts counts_of(const Shape& s) { return alltoallv.layout(s).counts.value(); }

// (1 - s) T / n + s d T / (n (n - 1) / 2) from i to j, d = (j - i) mod n, rounded down to 16 bytes.
TEST(Alltoallv, GeneratedCountsAreNcclTests) {
  const Counts full = counts_of(shape(1200, 4, 1, 4));  // T = 4800, 800 per step of d
  EXPECT_EQ(full.send_counts, (std::vector<std::size_t>{600, 0, 200, 400}));
  EXPECT_EQ(full.recv_counts, (std::vector<std::size_t>{200, 0, 600, 400}));
  EXPECT_EQ(full.send_offsets, (std::vector<std::size_t>{0, 600, 600, 800}));
  CollectiveOptions even;
  even.alltoallv_spread = 0;
  const Shape s{1200, 4, {1, 4}, even};
  EXPECT_EQ(counts_of(s).send_counts, (std::vector<std::size_t>(4, 300)));
  EXPECT_EQ(alltoallv.layout(s).table_count, 300U);
  EXPECT_EQ(alltoallv.layout(s).algbw_bytes, 4800U);
  EXPECT_DOUBLE_EQ(alltoallv.bus_factor(s), 0.75);
}

TEST(Alltoallv, MatrixIsInBytesAndItsLargestBufferCounts) {
  CollectiveOptions options;
  options.alltoallv_bytes = {{16, 32, 0}, {64, 0, 160}, {0, 0, 0}};
  const Shape s{1 << 20, 4, {0, 3}, options};
  EXPECT_EQ(counts_of(s).send_counts, (std::vector<std::size_t>{4, 8, 0}));
  EXPECT_EQ(counts_of(s).recv_counts, (std::vector<std::size_t>{4, 16, 0}));
  const Layout layout = alltoallv.layout(s);
  EXPECT_EQ(layout.send, 12U);
  EXPECT_EQ(layout.recv, 20U);
  EXPECT_EQ(layout.table_count, 0U);
  EXPECT_EQ(layout.algbw_bytes, 224U);  // rank 1 sends 64 + 160
}

// What every rank expects from every other lies where the counts of both put it.
void expect_both_sides_agree(Shape receiver) {
  for (receiver.self.rank = 0; receiver.self.rank < receiver.self.ranks; ++receiver.self.rank) {
    const auto to = static_cast<std::size_t>(receiver.self.rank);
    const Counts mine = counts_of(receiver);
    const auto blocks = alltoallv.expected(receiver);
    ASSERT_EQ(blocks.size(), static_cast<std::size_t>(receiver.self.ranks));
    for (std::size_t from = 0; from < blocks.size(); ++from) {
      Shape sender = receiver;
      sender.self.rank = static_cast<int>(from);
      const Counts theirs = counts_of(sender);
      const ExpectedBlock& b = blocks[from];
      EXPECT_EQ(b.source_rank, static_cast<int>(from));
      EXPECT_EQ(b.count, theirs.send_counts[to]);
      EXPECT_EQ(b.source_offset, theirs.send_offsets[to]);
      EXPECT_EQ(b.count, mine.recv_counts[from]);
      EXPECT_EQ(b.recv_offset, mine.recv_offsets[from]);
    }
  }
}

TEST(Alltoallv, BothSidesAgree) {
  for (const double spread : {0.0, 0.3, 1.0}) {
    CollectiveOptions options;
    options.alltoallv_spread = spread;
    for (const int n : {1, 2, 3, 4, 9, 17}) expect_both_sides_agree({5000, 4, {0, n}, options});
  }
}

TEST(Alltoallv, BothSidesOfAMatrixAgree) {
  CollectiveOptions options;
  options.alltoallv_bytes = {{16, 32, 0, 48}, {64, 0, 160, 16}, {0, 0, 0, 0}, {16, 80, 32, 96}};
  for (const int n : {1, 3, 4}) expect_both_sides_agree({5000, 4, {0, n}, options});
}

}  // namespace
}  // namespace ccl_tests
