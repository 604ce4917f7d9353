// The verdict file: the whole record as one JSON object.
//
// Keys, in this order; begin_s and end_s are seconds since 1970; null is a number that is not finite (not measured):
//   tool "ccl_acceptance", schema_version 1, verdict "PASS" | "WARN" | "FAIL" | "INCONCLUSIVE" | "SKIPPED", reason,
//   relative (true if PASS or WARN say that hosts are alike, and nothing says how fast they should be), headline,
//   next {what, command} (what to do), containment (which stages' times contain those of others, in words), complete,
//   plan, plan_digest (of its text: the first 8 bytes of SHA-256, hexadecimal), version, backend, library, launcher,
//   command, seed, begin_s, end_s, excluded [names of hosts],
//   hosts    [{name, ranks [numbers], facts {name: text}}],
//   stages   [{name, verdict, text, begin_s, end_s}],
//   checks   [{id, stage, subject, verdict, reason, text, numbers [{name, value, unit}], begin_s, end_s}],
//   pairs    [{size_bytes, rail (which rank of each host), time_s [[from host 0 to each host], ...]}],
//   curves   [{stage, program, datatype, ranks, points [{size_bytes, busbw_bytes_per_s, low_bytes_per_s,
//              high_bytes_per_s, limit_bytes_per_s (0: none)}]}]
#pragma once

#include <string>
#include <string_view>

#include "tools/acceptance/record.hpp"

namespace ccl_tests::acceptance {

inline constexpr int verdict_schema = 1;

// Returns the file's text. Each element of a list has a line of its own.
std::string verdict_json(const Record& record);

// Returns the record of such a text: NaN for null, bytes that are not UTF-8 lost. Ignores keys that
// it does not know. Throws Error with one line that names what is wrong.
Record read_verdict(std::string_view text);

}  // namespace ccl_tests::acceptance
