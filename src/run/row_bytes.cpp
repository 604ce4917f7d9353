#include "src/run/row_bytes.hpp"

#include <algorithm>
#include <set>

namespace ccl_tests {

RowBytes row_bytes(const Collective& collective, const Shape& shape) {
  RowBytes result;
  Shape s = shape;
  for (const int rank : std::set<int>{0, shape.root, shape.self.ranks - 1}) {
    s.self.rank = rank;
    const Layout layout = collective.layout(s);
    const std::size_t larger = std::max(layout.send, layout.recv);
    result.size = std::max(result.size, larger / layout.messages * s.type_bytes);
    const InPlace at = layout.in_place.value_or(InPlace{0, 0});
    const std::size_t end = std::max(at.send + layout.send, at.recv + layout.recv);
    result.region = std::max(result.region, end * s.type_bytes);
  }
  if (collective.largest != nullptr) {
    const std::size_t bytes = collective.largest(shape) * shape.type_bytes;
    result.size = std::max(result.size, bytes);
    result.region = std::max(result.region, bytes);
  }
  return result;
}

}  // namespace ccl_tests
