// A row and what is wrong with it, in words.
#pragma once

#include <string>
#include <string_view>

#include "src/options/options.hpp"
#include "src/record/record.hpp"

namespace ccl_tests {

// "1048576 B float sum", "8 B float pair 0:1", "8 B float sum group 1 root 2". requested: by the
// sweep.
std::string row_name(const Row& row, std::size_t requested);

constexpr std::string_view placement_words(bool in_place) {
  return in_place ? "in place" : "out of place";
}

// The same with the half of the row: "8 B float sum in place".
std::string row_place(const Row& row, std::size_t requested, std::string_view placement);

// Where a call was that no row is of, as a placement.
inline constexpr std::string_view first_call_words = "in the job's first calls";

// "rank 2 on b: 3 wrong, elements 0 to 2: expected ..., found ..."
std::string mismatch_text(const Mismatch& mismatch);

// "wrong: 8 B float sum in place: rank 2 on b: ...". where: row_place.
std::string wrong_line(const Mismatch& mismatch, const std::string& where);

// Flags that measure the row again, with more checks: "-b 1M -e 1M -d float -o sum -c 20 --seed 1".
std::string rerun_flags(const Row& row, std::size_t requested, const CheckOptions& check);

}  // namespace ccl_tests
