// The plugin that NCCL_PROFILER_PLUGIN names, told of operations as NCCL tells it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "tests/fake_gpu/nccl_communicator.hpp"

namespace fake_gpu {

class Profiler {
 public:
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;
  virtual ~Profiler() = default;

  // Of one communicator. Null: there is no plugin, or none of a version that this NCCL knows.
  static std::unique_ptr<Profiler> open(std::uint64_t hash, int rank, int ranks);

  // Of what is launched together.
  virtual void tell(const std::vector<Request>& requests) = 0;

 protected:
  Profiler() = default;
};

}  // namespace fake_gpu
