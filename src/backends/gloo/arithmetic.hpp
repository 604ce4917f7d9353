// The functions that combine elements over Gloo: its own, or the suite's.
#pragma once

#include <vector>

#include "src/core/backend.hpp"
#include "src/core/capabilities.hpp"
#include "src/core/reduction.hpp"

namespace ccl_tests::gloo_module {

// Gloo's own: the types that torch.distributed passes to them (`torch`), every type that they have
// (`gloo`), or none (`suite`). --backend-option reduce=gloo|suite, or else `torch`.
inline constexpr const char* reduce_key = "reduce";
enum class Reduce { torch, gloo, suite };

// Throws UsageError for another value.
Reduce reduce_choice(const BackendOptions& options);

// Returns Gloo's function if `reduce` takes it for `type` and `op`, else the suite's.
Combine combine_function(Reduce reduce, DataType type, ReduceOp op);

// Returns the types and operations for which it is the suite's.
std::vector<TypesAndOps> combined_by_suite(Reduce reduce);

}  // namespace ccl_tests::gloo_module
