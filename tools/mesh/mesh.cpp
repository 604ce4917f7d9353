#include "tools/mesh/mesh.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/options/values.hpp"

namespace ccl_tests::mesh {
namespace {

constexpr int most_ranks = 1 << 20;

bool is_name(std::string_view text) {
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
  return !text.empty() && letters.find(text.front()) != std::string_view::npos &&
         text.find_first_not_of(std::string(letters) + "0123456789_-") == std::string_view::npos;
}

Dimension parse_dimension(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (equals == std::string::npos || !is_name(name))
    throw UsageError(quote(text) + " is not NAME=RANKS; accepted: dp=2,tp=4");
  return {name, parse_int(text.substr(equals + 1), 1, most_ranks)};
}

}  // namespace

std::string_view name(Order order) {
  return order == Order::device_mesh ? "device-mesh" : "megatron";
}

std::string_view about(Order order) {
  return order == Order::device_mesh
             ? "the last dimension varies fastest, as in torch's DeviceMesh"
             : "the first dimension varies fastest, as in Megatron's order tp-cp-ep-dp-pp";
}

int Mesh::ranks() const {
  int ranks = 1;
  for (const Dimension& dimension : dimensions) ranks *= dimension.size;
  return ranks;
}

std::string Mesh::text() const {
  std::vector<std::string> all;
  for (const auto& [name, size] : dimensions) all.push_back(fmt::format("{}={}", name, size));
  return fmt::format("{}", fmt::join(all, ","));
}

std::vector<int> Mesh::strides() const {
  std::vector<int> strides(dimensions.size());
  int stride = 1;
  for (std::size_t k = 0; k < dimensions.size(); ++k) {
    const std::size_t d = order == Order::megatron ? k : dimensions.size() - 1 - k;
    strides[d] = stride;
    stride *= dimensions[d].size;
  }
  return strides;
}

std::vector<int> Mesh::coordinates(int rank) const {
  const std::vector<int> step = strides();
  std::vector<int> place;
  for (std::size_t d = 0; d < dimensions.size(); ++d)
    place.push_back(rank / step[d] % dimensions[d].size);
  return place;
}

RankGroups Mesh::groups(std::string_view dimension) const {
  const auto found = std::ranges::find(dimensions, dimension, &Dimension::name);
  if (found == dimensions.end())
    throw UsageError(
        fmt::format("{}: no dimension of --mesh {}", quote(std::string(dimension)), text()));
  const auto d = static_cast<std::size_t>(found - dimensions.begin());
  const int step = strides()[d];
  std::vector<std::vector<int>> members;
  for (int rank = 0; rank < ranks(); ++rank) {
    if (coordinates(rank)[d] != 0) continue;
    std::vector<int>& group = members.emplace_back();
    for (int k = 0; k < found->size; ++k) group.push_back(rank + k * step);
  }
  return {std::move(members), ranks()};
}

Mesh parse_mesh(const std::string& text) {
  Mesh mesh;
  long ranks = 1;
  for (const std::string& item : split_list(text)) {
    const Dimension dimension = parse_dimension(item);
    if (std::ranges::find(mesh.dimensions, dimension.name, &Dimension::name) !=
        mesh.dimensions.end())
      throw UsageError(
          fmt::format("{} is named twice; accepted: each dimension once", quote(dimension.name)));
    ranks *= dimension.size;
    if (ranks > most_ranks)
      throw UsageError(fmt::format("{}: more than {} ranks", quote(text), most_ranks));
    mesh.dimensions.push_back(dimension);
  }
  return mesh;
}

}  // namespace ccl_tests::mesh
