// The first form of JSON Lines, as records of the second.
#pragma once

#include "src/report/field_value.hpp"

namespace ccl_tests {

// Returns the header's values.
FieldRecord header_from_schema_1(FieldRecord line);

// Returns the values that are common to both placements, then those of each: in schema 1 a row was
// one line.
struct RowOfSchema1 {
  FieldRecord row, out_of_place, in_place;
};
RowOfSchema1 row_from_schema_1(FieldRecord line);

// Returns the footer's values.
FieldRecord footer_from_schema_1(FieldRecord line);

}  // namespace ccl_tests
