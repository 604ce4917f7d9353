// What verification says of the rows of a check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "src/run/benchmark_runner.hpp"
#include "tools/acceptance/record.hpp"

namespace ccl_tests::acceptance {

class Verified {
 public:
  void add(const PointRows& found);

  // Returns a check that passes if some calls were verified and all elements are right. subject: what its text
  // begins with, or nothing.
  Check judged(const std::string& id, const std::string& subject = {}) const;

 private:
  std::size_t rows_ = 0;
  std::uint64_t calls_ = 0, verified_ = 0;
  std::string wrong_;  // the first finding, with "wrong: " before it
};

}  // namespace ccl_tests::acceptance
