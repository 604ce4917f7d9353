// A mesh of ranks: its dimensions, and the groups of ranks along each. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "src/options/rank_groups.hpp"

namespace ccl_tests::mesh {

// The order in which ranks fill the mesh. device_mesh: the last dimension varies fastest
// (row-major), as in torch's DeviceMesh. megatron: the first one does, as in Megatron's "tp-cp-ep-dp-pp".
enum class Order { device_mesh, megatron };
std::string_view name(Order order);  // "device-mesh"
std::string_view about(
    Order order);  // "the last dimension varies fastest, as in torch's DeviceMesh"

struct Dimension {
  std::string name;
  int size = 1;  // ranks of a group along it
};

struct Mesh {
  std::vector<Dimension> dimensions = {};  // as given
  Order order = Order::device_mesh;

  int ranks() const;
  std::string text() const;  // "dp=2,tp=4"
  // Returns the rank's place in each dimension, in the order in which they were given.
  std::vector<int> coordinates(int rank) const;
  // Returns the groups along the dimension: ranks that differ in that coordinate alone, which is
  // their group rank. Groups are in the order of their first ranks. Throws UsageError if the mesh
  // does not have the dimension.
  RankGroups groups(std::string_view dimension) const;

 private:
  std::vector<int> strides() const;  // between neighbours along each dimension
};

// Reads "dp=2,tp=4". Throws UsageError.
Mesh parse_mesh(const std::string& text);

}  // namespace ccl_tests::mesh
