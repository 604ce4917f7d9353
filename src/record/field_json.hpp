// Records as JSON objects.
#pragma once

#include <string>
#include <string_view>

#include "src/record/field_value.hpp"

namespace ccl_tests {

// Returns the object on one line. Bytes that are not UTF-8 become U+FFFD.
std::string json_object(const FieldRecord& record);

// Throws Error if `text` is not a JSON object, or has a list of mixed values.
FieldRecord parse_json_object(std::string_view text);

}  // namespace ccl_tests
