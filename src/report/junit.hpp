// JUnit's XML as CI services read it (Jenkins: junit-10.xsd of its xUnit plugin). Texts are escaped.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace ccl_tests {

inline constexpr std::string_view xml_declaration = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";

// The reason why a test case does not pass: "failure", "error" or "skipped".
struct JunitTrouble {
  std::string_view outcome;
  std::optional<std::string> type = {};
  std::string message = {};
  std::optional<std::string> details = {};  // line ends stay
};

struct JunitCase {
  std::string classname = {}, name = {};
  std::string seconds = {};  // empty: not timed
  std::optional<JunitTrouble> trouble = {};
  std::optional<std::string> output = {};
};

// Returns the case as a line that begins with `indent`.
std::string junit_text(const JunitCase& one, std::string_view indent);

struct JunitCounts {
  std::size_t tests = 0, failures = 0, errors = 0, skipped = 0;
};
// Returns the number of cases in a text that is made of junit_text().
JunitCounts junit_counts(std::string_view cases);
// Returns the attributes tests, failures and errors. Jenkins' schema allows `skipped` for suites
// only.
std::string junit_attributes(const JunitCounts& counts);

struct JunitSuite {
  std::string name = {};
  std::string seconds = {};  // empty: not timed
  std::string cases = {};    // junit_text() of each
  std::string output = {};   // line ends stay; empty: none
};

// Returns the suite as lines that begin with `indent`.
std::string junit_text(const JunitSuite& suite, std::string_view indent);

}  // namespace ccl_tests
