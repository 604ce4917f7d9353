// ccl-hwloc.so: what --bind opens, so that runs without it load neither hwloc nor what hwloc needs.
#include <hwloc.h>

#include <algorithm>
#include <memory>

#include "src/core/backend.hpp"
#include "src/core/error.hpp"
#include "src/devices/host_limits.hpp"

namespace ccl_tests {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, Destroy>;

Topology load() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) throw Error("hwloc cannot be started");
  Topology result(topology);
  if (hwloc_topology_load(topology) != 0) throw Error("hwloc cannot read this host's topology");
  return result;
}

CpuCore core_of(const hwloc_obj& object, const std::set<int>& allowed) {
  CpuCore core;
  core.node = std::max(0, hwloc_bitmap_first(object.nodeset));
  for (const int cpu : allowed)
    if (hwloc_bitmap_isset(object.cpuset, static_cast<unsigned>(cpu)) != 0) core.cpus.insert(cpu);
  return core;
}

std::vector<CpuCore> cores_of_host() {
  const Topology topology = load();
  const std::set<int> allowed = cpus_in(allowed_cpus());
  // Some virtual machines show no cores: each CPU is one then.
  const hwloc_obj_type_t type =
      hwloc_get_nbobjs_by_type(topology.get(), HWLOC_OBJ_CORE) > 0 ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  std::vector<CpuCore> cores;
  for (hwloc_obj_t object = hwloc_get_next_obj_by_type(topology.get(), type, nullptr);
       object != nullptr; object = hwloc_get_next_obj_by_type(topology.get(), type, object)) {
    CpuCore core = core_of(*object, allowed);
    if (!core.cpus.empty()) cores.push_back(std::move(core));
  }
  return cores;
}

}  // namespace

}  // namespace ccl_tests

extern "C" {
__attribute__((visibility("default"))) int ccl_module_abi() { return ccl_tests::module_abi; }
__attribute__((visibility("default"))) void ccl_module_cores(
    std::vector<ccl_tests::CpuCore>& cores) {
  cores = ccl_tests::cores_of_host();
}
}
