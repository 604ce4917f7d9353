// A record in words (headline.cpp): what is wrong, the first line, the command to type next; and as a whole text: for the
// terminal, as the verdict file, as JUnit, as a page, and as a list of hosts. Pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
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

// Returns the shown verdict and the check that decided: "FAIL node17: all_reduce 1G 231 of 360 GB/s". A line of at most
// headline_bytes.
std::string headline(const Record& record);

struct NextStep {
  std::string what;     // half a sentence
  std::string command;  // to type; empty: there is nothing to run
};

// Returns what the verdict asks for. The command begins with its launcher if that is Open MPI's or
// MPICH's mpirun, or srun, and leaves out the hosts that the record excludes.
NextStep next_step(const Record& record);

// Returns the headline, the stages, what is wrong and what to do next. file: the verdict file, which has what is not
// shown; empty: there is none.
std::string terminal_text(const Record& record, const std::string& file = {});

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

// Returns the file's text. Each element of a list has a line of its own.
std::string verdict_json(const Record& record);

// Returns the record of such a text: NaN for null, bytes that are not UTF-8 lost. Ignores keys that
// it does not know. Throws Error with one line that names what is wrong.
Record read_verdict(std::string_view text);

// Returns a JUnit document: a suite for each stage, a case for each check, and one for the run's own verdict, so that a
// run that did not end is never green. FAIL is a failure, INCONCLUSIVE an error; WARN passes with its text as output.
std::string junit_text(const Record& record);

// Returns page.html with the record's verdict file as data, which a script of the page draws; without scripts it is the
// text of the terminal. The page loads nothing, follows the reader's light or dark scheme, and prints on A4.
std::string html_page(const Record& record);

// The forms of a list of hosts. lines: a name a line. slurm: the option itself, --exclude=node3,node17, so that
// `sbatch $(cat FILE) job.sh` also works if nothing is excluded and the file is empty.
enum class HostsFormat { lines, slurm };
constexpr std::string_view name(HostsFormat format) {
  return format == HostsFormat::lines ? "lines" : "slurm";
}

// Returns the file's text, empty for no names. Throws Error for a name that is not a host's: letters,
// digits, '.', '_', '-', not '-' first.
std::string hosts_text(const std::vector<std::string>& names, HostsFormat format);

}  // namespace ccl_tests::acceptance
