#include "src/run/rank_report.hpp"

#include "src/core/serialize.hpp"

namespace ccl_tests {

NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(StepTimes, sizes_s, payload_s, packing_s)
NLOHMANN_DEFINE_TYPE_NON_INTRUSIVE(RankReport, wrong, first, last, explanation, calls, verified,
                                   steps, intervals, barrier, algorithm)

std::string to_text(const RankReport& report) { return to_bytes(report); }
RankReport rank_report(std::string_view text) { return from_bytes<RankReport>(text); }

std::string to_text(const Samples& samples) { return span_to_bytes<Sample>(samples); }
Samples samples_of(std::string_view text) { return span_from_bytes<Sample>(text); }

}  // namespace ccl_tests
