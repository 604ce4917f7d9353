// What a record says is wrong, and with whom. Pure; what the terminal and the page agree on.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tools/acceptance/record.hpp"

namespace ccl_tests::acceptance {

// Returns the run's verdict. A run that did not end, or that looked at nothing, is never better
// than INCONCLUSIVE.
Verdict shown_verdict(const Record& record);

// Returns the checks that are WARN or worse: the worst first, the others in the record's order.
std::vector<const Check*> wrong_checks(const Record& record);

// Returns the check with the run's verdict and reason, otherwise the worst; null if nothing is wrong.
const Check* deciding_check(const Record& record);

// Returns whom a check is about, without "host": "node17", "link node3-node9".
std::string bare_subject(const Check& check);

// Returns true if the run passed (PASS or WARN), and nothing said how fast its hosts together should be.
bool is_relative(const Record& record);

// Returns which stages were run within another one, whose time contains theirs: "The time of pairs contains that of full
// and scaling."; empty: none was.
std::string containment_text(const Record& record);

std::size_t ranks_of(const Record& record);

}  // namespace ccl_tests::acceptance
