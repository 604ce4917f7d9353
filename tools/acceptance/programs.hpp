// The programs of a run: which there are, the message that hosts are judged by, and what their verified rows say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "src/core/collective.hpp"
#include "src/run/benchmark_runner.hpp"
#include "tools/acceptance/record.hpp"

namespace ccl_tests::acceptance {

// A message from the first rank of a pair to the second, which answers with one element when all of it
// has come. The row's size and time are the message's: both ends see the same time, that of one
// direction and a short way back.
extern const Collective one_way;

// Returns the program of that name, without _perf; one_way, too. Throws Error if there is none.
const Collective& program_named(std::string_view name);

// What its rows are of, where nobody asked for more: float, or the first that it has.
DataType usual_type(const Collective& program);
std::optional<ReduceOp> usual_op(const Collective& program);  // nullopt: nothing is reduced

// What the rows of a run say of its results.
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
