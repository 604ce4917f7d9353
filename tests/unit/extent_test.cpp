// What operations read and write, held against the specs' layouts, which are written independently.
#include "src/core/call.hpp"

#include <gtest/gtest.h>

#include "collectives/collectives.hpp"

namespace ccl_tests {
namespace {

struct Spec {
  OperationId operation;
  const Collective* collective;
};
std::vector<Spec> specs() {
  using namespace collectives;
  return {{OperationId::all_reduce, &all_reduce},
          {OperationId::reduce, &reduce},
          {OperationId::broadcast, &broadcast},
          {OperationId::all_gather, &all_gather},
          {OperationId::reduce_scatter, &reduce_scatter},
          {OperationId::all_gatherv, &all_gatherv},
          {OperationId::reduce_scatterv, &reduce_scatterv},
          {OperationId::alltoall, &alltoall},
          {OperationId::alltoallv, &alltoallv},
          {OperationId::gather, &gather},
          {OperationId::scatter, &scatter},
          {OperationId::gatherv, &gatherv},
          {OperationId::scatterv, &scatterv},
          {OperationId::barrier, &barrier}};
}

TEST(Extent, IsWhatTheSpecsSay) {
  CollectiveOptions options;
  for (const Skew skew : {Skew::equal, Skew::linear, Skew::one_large}) {
    options.skew = skew;
    for (const Spec& spec : specs()) {
      for (const int ranks : {1, 3, 4}) {
        for (int rank = 0; rank < ranks; ++rank) {
          const int root = spec.collective->domain.rooted ? ranks - 1 : 0;
          const Shape shape{4000, 4, {rank, ranks}, options, root};
          const Layout layout = spec.collective->layout(shape);
          const Call call = call_of(shape, layout, DataType::float32, ReduceOp::sum);
          SCOPED_TRACE(std::string(name(spec.operation)) + ", rank " + std::to_string(rank) +
                       " of " + std::to_string(ranks));
          EXPECT_EQ(call.send_bytes(spec.operation).size(), 4 * layout.send);
          EXPECT_EQ(call.recv_bytes(spec.operation).size(), 4 * layout.recv);
        }
      }
    }
  }
}

TEST(Extent, OfBlocksWithGapsEndsWithTheLast) {
  const std::size_t counts[] = {2, 0, 3};
  const std::size_t offsets[] = {4, 100, 9};
  Call call;
  call.self = {1, 3};
  call.send_counts = counts;  // without offsets they are adjacent
  call.recv_counts = counts;
  call.recv_offsets = offsets;
  EXPECT_EQ(extent(OperationId::alltoallv, call).send, 5U);
  EXPECT_EQ(extent(OperationId::alltoallv, call).recv, 12U);
}

TEST(Extent, OfAMessageIsItsCount) {
  std::byte data[24];
  Call call;
  call.send = call.recv = data;
  call.count = 3;
  call.type = DataType::float64;
  EXPECT_EQ(call.send_bytes(OperationId::transfer).data(), data);
  EXPECT_EQ(call.send_bytes(OperationId::transfer).size(), sizeof data);
  EXPECT_EQ(call.recv_bytes(OperationId::transfer).size(), sizeof data);
  EXPECT_TRUE(call.recv_bytes(OperationId::barrier).empty());
}

}  // namespace
}  // namespace ccl_tests
