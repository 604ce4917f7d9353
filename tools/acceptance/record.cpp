#include "tools/acceptance/record.hpp"

namespace ccl_tests::acceptance {

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::skipped: return "SKIPPED";
    case Verdict::pass: return "PASS";
    case Verdict::warn: return "WARN";
    case Verdict::inconclusive: return "INCONCLUSIVE";
    case Verdict::fail: return "FAIL";
  }
  return "INCONCLUSIVE";
}

}  // namespace ccl_tests::acceptance
