#include "tools/acceptance/verified.hpp"

#include <fmt/format.h>

#include "src/record/quantity_text.hpp"

namespace ccl_tests::acceptance {

void Verified::add(const PointRows& found) {
  for (const Row& row : found.rows) {
    ++rows_;
    for (const Measurement* cell : {&row.out_of_place, &row.in_place}) {
      calls_ += cell->calls;
      verified_ += cell->verified_calls;
    }
  }
  if (wrong_.empty() && !found.wrong.empty()) wrong_ = found.wrong.front();
}

Check Verified::judged(const std::string& id, const std::string& subject) const {
  const std::string begin = subject.empty() ? "" : subject + ": ";
  Check check{.id = id,
              .subject = "run",
              .verdict = Verdict::pass,
              .reason = "OK",
              .text = fmt::format("{}{} right, {} of {} verified", begin, counted(rows_, "row"),
                                  verified_, counted(calls_, "call")),
              .numbers = {{"rows", static_cast<double>(rows_)},
                          {"verified_calls", static_cast<double>(verified_)}}};
  if (!wrong_.empty()) {
    check.verdict = Verdict::fail;
    check.reason = "WRONG_DATA";
    check.text = begin + wrong_;
  } else if (verified_ == 0) {
    check.verdict = Verdict::inconclusive;
    check.reason = "NOT_VERIFIED";
    check.text = begin + "no call could be verified";
  }
  return check;
}

}  // namespace ccl_tests::acceptance
