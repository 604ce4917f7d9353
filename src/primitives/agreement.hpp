// Checks, beside the library, that all ranks mean the same call. A library that is given different
// counts hangs or delivers wrong data.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/agreement.hpp"
#include "src/core/error.hpp"
#include "src/primitives/dictionaries.hpp"
#include "src/primitives/group.hpp"
#include "src/primitives/tensor.hpp"

namespace ccl_tests::primitives {

// Ranks do not mean the same. All of them get to know.
class Disagreement : public Error {
 public:
  explicit Disagreement(const std::string& what) : Error(what, Exit::usage) {}
};

// All are collective over the control plane: a digest of each rank's terms, and the terms
// themselves only when digests differ. They throw Disagreement, the same on every rank, that names
// the ranks which differ from the most others and the first term of each that does; Timeout when a
// rank does not come.

// Terms in order of importance; the operation is one more.
void check_agreement(Group& group, std::string_view operation,
                     const std::vector<NamedValue>& terms);

// Before broadcast_object_list: the number of objects and the source.
void check_list(Group& group, std::size_t objects, int src = 0);
// Before all_reduce_dict and reduce_dict: keys, types, shapes; not their order.
void check_dictionary(Group& group, std::span<const Entry> dictionary);
// Before average_metrics: names.
void check_metrics(Group& group, const std::map<std::string, double>& metrics);
// Before all_reduce_params, broadcast_tensors and sync_buffer: number, types and shapes in order.
void check_tensors(Group& group, std::span<const Tensor> tensors);
// Before sync_grad: number, and which have a gradient, of what type and shape.
void check_parameters(Group& group, std::span<const Parameter> parameters);

}  // namespace ccl_tests::primitives
