#include "src/options/program_texts.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ccl_tests {
namespace {

constexpr std::pair<std::string_view, std::string_view> texts[] = {
    {"all_gather", "every rank gets all ranks' blocks"},
    {"all_gather_object", "every rank gets all ranks' objects"},
    {"all_gatherv", "every rank gets all ranks' blocks, of unequal length"},
    {"all_reduce", "every rank gets the reduction of all ranks' buffers"},
    {"all_reduce_dict", "tensors of equal keys are reduced together"},
    {"all_reduce_params", "a list of tensors is reduced in buckets"},
    {"alltoall", "every rank gets its block of all ranks' buffers"},
    {"alltoallv", "every pair exchanges blocks of its own size"},
    {"average_metrics", "numbers become their weighted means"},
    {"barrier", "nobody leaves before the last rank has entered"},
    {"broadcast", "every rank gets the root's buffer"},
    {"broadcast_object", "every rank gets the root's objects"},
    {"broadcast_tensors", "every rank gets the root's tensors"},
    {"check_tensors", "do all ranks have equally many tensors?"},
    {"collect_results", "rank 0 gets all ranks' results in order"},
    {"gather", "the root gets all ranks' blocks"},
    {"gather_object", "the root gets all ranks' objects"},
    {"gatherv", "the root gets all ranks' blocks, of unequal length"},
    {"hypercube", "all ranks' blocks, by exchanges with log2(ranks) peers"},
    {"pingpong", "messages between the two ranks of a pair"},
    {"reduce", "the root gets the reduction of all ranks' buffers"},
    {"reduce_dict", "the root gets the reduction of equal keys"},
    {"reduce_scatter", "every rank gets its block of the reduction"},
    {"reduce_scatterv", "every rank gets its block, of unequal length"},
    {"scatter", "every rank gets its block of the root's buffer"},
    {"scatterv", "every rank gets its block, of unequal length"},
    {"sendrecv", "every rank sends to one rank and receives from one"},
    {"sync_buffer", "a model's buffers become equal on all ranks"},
    {"sync_grad", "gradients become their means over all ranks"},
    {"sync_seed", "all ranks get one random seed"},
};

}  // namespace

std::string_view about(std::string_view name) {
  const auto* const found = std::find_if(std::begin(texts), std::end(texts),
                                         [&](const auto& text) { return text.first == name; });
  return found == std::end(texts) ? std::string_view() : found->second;
}

}  // namespace ccl_tests
