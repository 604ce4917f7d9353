// The programs' specs.
#pragma once

#include "src/core/collective.hpp"

namespace ccl::collectives {

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

}  // namespace ccl::collectives
