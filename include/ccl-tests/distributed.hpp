// What a program on the primitives includes: see examples/data_parallel.
#pragma once

#include "src/bootstrap/local_processes.hpp"
#include "src/core/error.hpp"
#include "src/primitives/agreement.hpp"
#include "src/primitives/dictionaries.hpp"
#include "src/primitives/objects.hpp"
#include "src/primitives/results.hpp"
#include "src/primitives/seeds.hpp"
#include "src/primitives/tensors.hpp"
#include "src/programs/run_distributed.hpp"
