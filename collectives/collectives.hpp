// The programs' specs.
#pragma once

#include "src/core/collective.hpp"

namespace ccl_tests::collectives {

extern const Collective all_gather;
extern const Collective all_gatherv;
extern const Collective all_reduce;
extern const Collective alltoall;
extern const Collective alltoallv;
extern const Collective barrier;
extern const Collective broadcast;
extern const Collective gather;
extern const Collective gatherv;
extern const Collective hypercube;
extern const Collective pingpong;
extern const Collective reduce;
extern const Collective reduce_scatter;
extern const Collective reduce_scatterv;
extern const Collective scatter;
extern const Collective scatterv;
extern const Collective sendrecv;

// Composite primitives.
extern const Collective all_gather_object;
extern const Collective all_reduce_dict;
extern const Collective all_reduce_params;
extern const Collective average_metrics;
extern const Collective broadcast_object;
extern const Collective broadcast_tensors;
extern const Collective check_tensors;
extern const Collective collect_results;
extern const Collective gather_object;
extern const Collective reduce_dict;
extern const Collective sync_buffer;
extern const Collective sync_grad;
extern const Collective sync_seed;

}  // namespace ccl_tests::collectives
