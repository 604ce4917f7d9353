#include "src/run/unmeasured_row.hpp"

#include "verify/coverage.hpp"

namespace ccl_tests {

Row unmeasured_row(const Problem& p, int group, const Capabilities& library,
                   const verify::Pattern* pattern, bool numbered) {
  const Collective& collective = *p.collective;
  const Shape shape = shape_of(p.point, p.shape.options, group);
  Row row;
  row.cycle = p.point.cycle;
  row.bytes = collective.domain.fixed_bytes.value_or(row_bytes(collective, shape).size);
  row.count = collective.layout(shape).table_count;
  row.type = p.point.type;
  row.op = p.point.op;
  if (collective.domain.rooted) row.root = shape.root;
  row.bus_factor = collective.bus_factor(shape);
  if (collective.padding_waste != nullptr) row.padding_waste = collective.padding_waste(shape);
  row.emulated = library.emulates(operations_of(collective), p.point.type, p.point.op);
  row.coverage = pattern != nullptr && row.bytes > 0
                     ? verify::coverage(pattern->inputs(), pattern->phase(0, 0), shape.count)
                     : 1;
  if (collective.domain.paired) {
    row.pair = {p.point.groups->members(group)[0], p.point.groups->members(group)[1]};
  } else if (numbered) {
    row.group = group;
  }
  return row;
}

}  // namespace ccl_tests
