// What a backend outside of this project includes: see examples/backend.
#pragma once

#include "src/core/backend.hpp"
#include "src/core/composed.hpp"
#include "src/core/forwarding_communicator.hpp"
#include "src/core/reduction.hpp"
