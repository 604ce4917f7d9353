// One operation of one rank: its buffers and its arguments. Messages between two ranks.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/core/types.hpp"

namespace ccl_tests {

// A rank's membership in a group of ranks. group: the group's number; 0 if all ranks are one group,
// below 0 for a rank that is in no group.
struct GroupRank {
  int rank = 0;
  int ranks = 1;
  int group = 0;
};

// Two ranks that send messages to each other; the first one sends first.
using RankPair = std::pair<int, int>;
inline std::string name(const RankPair& pair) {  // "0:1"
  return std::to_string(pair.first) + ':' + std::to_string(pair.second);
}

// The operations of a communicator. transfer: messages between two ranks (send and recv).
enum class OperationId {
  all_reduce,
  reduce,
  broadcast,
  all_gather,
  reduce_scatter,
  all_gatherv,
  reduce_scatterv,
  alltoall,
  alltoallv,
  gather,
  scatter,
  gatherv,
  scatterv,
  barrier,
  transfer,
};
std::span<const OperationId> all_operations();
std::string_view name(OperationId operation);  // "all_reduce"
std::optional<OperationId> parse_operation(std::string_view text);

// A set of operations.
class OperationSet {
 public:
  constexpr OperationSet() = default;
  constexpr OperationSet(std::initializer_list<OperationId> operations) {
    for (const OperationId operation : operations) add(operation);
  }
  static constexpr OperationSet all() {
    OperationSet set;
    set.bits_ = 2 * bit(OperationId::transfer) - 1;
    return set;
  }
  constexpr void add(OperationId operation) { bits_ |= bit(operation); }
  constexpr bool has(OperationId operation) const { return (bits_ & bit(operation)) != 0; }
  constexpr bool empty() const { return bits_ == 0; }
  std::vector<OperationId> list() const {
    std::vector<OperationId> operations;
    for (const OperationId operation : all_operations())
      if (has(operation)) operations.push_back(operation);
    return operations;
  }

 private:
  static constexpr unsigned bit(OperationId operation) {
    return 1U << static_cast<unsigned>(operation);
  }
  unsigned bits_ = 0;
};

inline constexpr OperationSet reducing_operations = {OperationId::all_reduce, OperationId::reduce,
                                                     OperationId::reduce_scatter,
                                                     OperationId::reduce_scatterv};
// Those with a root: it alone receives, or it alone sends.
inline constexpr OperationSet received_by_root = {OperationId::reduce, OperationId::gather,
                                                  OperationId::gatherv};
inline constexpr OperationSet sent_by_root = {OperationId::broadcast, OperationId::scatter,
                                              OperationId::scatterv};

// One operation of one rank. Counts and offsets are in elements of `type`. What `count` means is
// each operation's: all_reduce, reduce, broadcast, send, recv: elements of the buffer; all_gather,
// gather, scatter, reduce_scatter, alltoall: elements per rank (one block); the vector collectives:
// of this rank's block. The four spans belong to the vector collectives and have one entry per
// rank: alltoallv takes all four, all_gatherv and gatherv the receiving two, scatterv and
// reduce_scatterv the sending two, on all ranks. all_gatherv, gatherv, scatterv
// and reduce_scatterv have adjacent blocks in rank order, in one buffer.
struct Call {
  const void* send = nullptr;
  void* recv = nullptr;
  std::size_t count = 0;
  DataType type = DataType::float32;
  ReduceOp op = ReduceOp::sum;  // one of ops_of(type)
  GroupRank self = {};          // of the rank that makes the call
  int root = 0;                 // of rooted operations
  std::span<const std::size_t> send_counts = {}, send_offsets = {};
  std::span<const std::size_t> recv_counts = {}, recv_offsets = {};
  int peer = -1;                       // of send and recv
  std::size_t messages = 1, legs = 1;  // of a paired collective: Layout's

  // Returns exactly the bytes that `operation` reads on this rank. Empty if it reads nothing here.
  // Of a message: `count` elements.
  std::span<const std::byte> send_bytes(OperationId operation) const;
  // Returns exactly the bytes that `operation` may write on this rank. Empty if it may write
  // nothing. Blocks with gaps between them: from the buffer's begin to the end of the last block.
  std::span<std::byte> recv_bytes(OperationId operation) const;
};

// Elements that an operation reads at Call::send and may write at Call::recv on this rank.
struct Extent {
  std::size_t send = 0, recv = 0;
};
Extent extent(OperationId operation, const Call& call);

// One end of a message between this rank and rank `peer`, which may be this rank. A transfer may
// shorten `bytes` as it proceeds.
struct Message {
  enum class Direction { send, recv };
  Direction direction = Direction::send;
  int peer = 0;
  std::span<std::byte> bytes = {};  // of a message to send: read only
  DataType type = DataType::uint8;  // whole elements of it

  bool sends() const { return direction == Direction::send; }
  std::size_t count() const { return bytes.size() / size_of(type); }

  static Message to(int peer, std::span<const std::byte> bytes, DataType type = DataType::uint8) {
    return {Direction::send, peer, {const_cast<std::byte*>(bytes.data()), bytes.size()}, type};
  }
  static Message from(int peer, std::span<std::byte> bytes, DataType type = DataType::uint8) {
    return {Direction::recv, peer, bytes, type};
  }
};

// Returns the bytes of all messages together.
inline std::size_t bytes_of(std::span<const Message> messages) {
  std::size_t all = 0;
  for (const Message& message : messages) all += message.bytes.size();
  return all;
}

// Returns the elements of all blocks together.
inline std::size_t sum_of(std::span<const std::size_t> counts) {
  std::size_t all = 0;
  for (const std::size_t count : counts) all += count;
  return all;
}

}  // namespace ccl_tests
