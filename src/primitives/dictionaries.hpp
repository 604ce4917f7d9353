// Dictionaries of tensors and of numbers, reduced by one operation.
#pragma once

#include <map>
#include <span>
#include <string>

#include "src/primitives/group.hpp"
#include "src/primitives/tensor.hpp"

namespace ccl_tests::primitives {

// A dictionary is a list of these in any order, each key once.
struct Entry {
  std::string key;
  Tensor tensor;
};

// All three are collective, and need the same keys, numbers of elements and types on all ranks
// (check_dictionary, check_metrics). They throw what the library throws.

// Every rank's tensors replaced by the reduction over all ranks of the tensors of equal keys. As
// mmengine.dist.all_reduce_dict: keys sorted, one flat tensor, one all_reduce. The average (op avg)
// of integers truncates toward zero. Throws UsageError when a key comes twice or the types differ,
// which the original promotes. An empty dictionary moves nothing.
void all_reduce_dict(Group& group, std::span<const Entry> dictionary, ReduceOp op = ReduceOp::sum);

// Rank 0's tensors replaced by the sum or the average over all ranks; elsewhere they stay. As
// detectron2.utils.comm.reduce_dict: keys sorted, one flat tensor (the original's stack needs equal
// shapes), one reduce to rank 0, which alone divides. Throws as all_reduce_dict.
void reduce_dict(Group& group, std::span<const Entry> dictionary, bool average = true);

// Every rank's numbers replaced by their means over all ranks, each rank's counting `weight` times.
// As flashy.distrib.average_metrics: one float32 tensor of value * weight for each number and the
// weight itself, one all_reduce, divided by its last element; on one rank too, where the original
// returns the numbers unchanged. Throws UsageError, on all ranks, when the weights sum to 0.
void average_metrics(Group& group, std::map<std::string, double>& metrics, double weight = 1);

}  // namespace ccl_tests::primitives
