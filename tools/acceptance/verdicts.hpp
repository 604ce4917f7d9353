// Verdicts about suspects after two confirmations.
#pragma once

#include <optional>

#include "tools/acceptance/confirm.hpp"
#include "tools/acceptance/findings.hpp"

namespace ccl_tests::acceptance {

// Returns what two confirmations of one suspect say; `second` is nullopt if there was none, because
// the first did not blame the suspect. The size is the mean of both, weighted by their errors.
// Its interval also has what healthy hosts differ by, from `noise` of the suspect's statistic.
HostFinding host_finding(const Confirmation& first, const std::optional<Confirmation>& second,
                         const Noise& noise);

}  // namespace ccl_tests::acceptance
