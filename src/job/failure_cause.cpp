#include "src/job/failure_cause.hpp"

#include <fmt/format.h>

#include "src/core/error.hpp"

namespace ccl_tests {

Failure explain(Control& control, const Failure& own) {
  const bool timed_out = own.code == exit_code(Exit::timed_out);
  if (!timed_out && own.code != exit_code(Exit::failed)) return own;
  if (control.processes() == 1) return own;
  // A peer that timed out closes its connections at once and is as patient before it says so: who
  // sees only these closed must wait longer, or the shadow is reported before the cause.
  const double patience_s = timed_out ? 2 : 3;
  Failure known = control.wait_failure(patience_s);
  if (known.code == 0) return own;
  if (known.message.ends_with(own.message)) return known;
  if (own.message.ends_with(known.message)) return {known.code, own.message};
  return {known.code, fmt::format("{} (seen here as: {})", known.message, own.message)};
}

}  // namespace ccl_tests
