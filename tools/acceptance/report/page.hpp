// The report: one page that an operator keeps, prints, or sends to a vendor.
#pragma once

#include <string>

#include "tools/acceptance/record.hpp"

namespace ccl_tests::acceptance {

// Returns page.html with the record's verdict file as data. A script of the page draws it in the
// browser. Without scripts the page is the text of the terminal. The page loads nothing, follows the
// reader's light or dark scheme, and prints on A4.
std::string html_page(const Record& record);

}  // namespace ccl_tests::acceptance
