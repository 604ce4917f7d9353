// Checks over the control channel that all ranks pass the same arguments. Libraries hang, end the
// process or return wrong data if they do not.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "src/core/control_channel.hpp"

namespace ccl_tests {

// One thing that must be the same on all ranks, as text: {"key 'loss'", "float[3]"}.
struct NamedValue {
  std::string name, value;
};

// Collective over the channel's ranks: a digest of each rank's terms, which are in order of
// importance, and the terms themselves only when digests differ; the operation is one more. Returns
// the same on every rank: nothing, or a line that names the ranks which differ from the most others
// and the first term of each that does. limit_s: of one exchange. Throws Timeout when a rank does
// not come, Error when one makes another exchange.
std::optional<std::string> disagreement(ControlChannel& channel, double limit_s,
                                        std::string_view operation,
                                        const std::vector<NamedValue>& terms);

}  // namespace ccl_tests
