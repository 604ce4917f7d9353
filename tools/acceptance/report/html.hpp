// The report: one page that an operator keeps, prints, or sends to a vendor.
#pragma once

#include <string>

#include "tools/acceptance/record.hpp"

namespace ccl_tests::acceptance {

// Returns a whole HTML page. The page loads nothing, runs no script, follows the reader's light or
// dark scheme, and prints on A4.
std::string html_page(const Record& record);

}  // namespace ccl_tests::acceptance
