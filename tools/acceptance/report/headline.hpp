// The words of a record: its verdict, what is wrong, the first line of a report, and the command to type next. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "src/record/quantity_text.hpp"  // counted(), for those who include this
#include "src/report/text.hpp"
#include "src/report/verdict_file.hpp"
#include "tools/acceptance/record.hpp"

namespace ccl_tests::acceptance {

// Returns "231 GB/s": three digits. "not measured" for NaN.
std::string rate_text(double bytes_per_second);

// Returns a value with its unit: "231 GB/s", "1.2 ms", "64 KiB", "1.56". "not measured" for NaN.
std::string number_text(const Number& number);

// Returns "0.4 s", "12 s", "3 min 05 s", "1 h 02 min"; "unknown" if an end is missing.
std::string duration_text(double begin_s, double end_s);
std::string duration_text(double seconds);

// Returns the numbers of a check for people. x, x_low and x_high are one text: "x 1.56 [1.49, 1.63]".
std::vector<std::string> quantities(const std::vector<Number>& numbers);

// Returns the run's verdict: INCONCLUSIVE at best if it did not end, or looked at nothing.
Verdict shown_verdict(const Record& record);

// Returns the checks that are WARN or worse: the worst first, the others in the record's order.
std::vector<const Check*> wrong_checks(const Record& record);

// Returns whom a check is about, without "host": "node17", "link node3-node9".
std::string bare_subject(const Check& check);

// Returns whether the run passed (PASS or WARN), and nothing said how fast its hosts together should be.
bool is_relative(const Record& record);

// Returns "The time of pairs contains that of full and scaling."; empty if no stage was run within another one.
std::string containment_text(const Record& record);

std::size_t ranks_of(const Record& record);

// Makes a headline out of the check that decided: "FAIL node17: all_reduce 1G 231 of 360 GB/s". A line of at most
// headline_bytes that begins with the shown verdict.
std::string make_headline(const Record& record);

// Returns the record's own headline, shortened, if it begins with the shown verdict; otherwise a made one.
std::string headline(const Record& record);

struct NextStep {
  std::string what;     // half a sentence
  std::string command;  // to type; empty: there is nothing to run
};

// Returns what the verdict asks for. The command begins with its launcher if that is Open MPI's or
// MPICH's mpirun, or srun, and leaves out the hosts that the record excludes.
NextStep next_step(const Record& record);

}  // namespace ccl_tests::acceptance
