// The page: whole, escaped, and with nothing from elsewhere. tests/system/acceptance_page_test.sh shows it to a browser.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/unit/acceptance_sample.hpp"
#include "tools/acceptance/report/html.hpp"
#include "tools/acceptance/report/html_parts.hpp"

namespace ccl_tests::acceptance {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(AcceptancePage, TheVerdictIsFirst) {
  const std::string page = html_page(test::sample());
  const std::size_t verdict = page.find("<span class=\"word\">FAIL</span>");
  ASSERT_NE(verdict, std::string::npos);
  std::size_t before = verdict;
  for (const char* const heading :
       {"What is wrong", "What to do next", "Stages", "Pairs of hosts", "Bus bandwidth over size",
        "What differs between hosts", "The same on all hosts", "Hosts and their ranks",
        "Environment and versions", "All checks"}) {
    const std::size_t at = page.find(std::string("<h2>") + heading);
    ASSERT_NE(at, std::string::npos) << heading;
    EXPECT_GT(at, before) << heading;
    before = at;
  }
}

TEST(AcceptancePage, WhatIsNotDecidedIsNotCalledWrong) {
  Record record = test::sample();
  EXPECT_THAT(html_page(record), Not(HasSubstr("What is not decided")));
  for (Check& check : record.checks)
    if (check.verdict > Verdict::pass) check.verdict = Verdict::inconclusive;
  record.verdict = Verdict::inconclusive;
  const std::string section = wrong_section(record);
  EXPECT_THAT(section, HasSubstr("<p>No check found anything wrong.</p>\n<h2>What is not decided"));
}

TEST(AcceptancePage, LoadsNothing) {
  for (const Record& record : {test::sample(), test::many_hosts()}) {
    const std::string page = html_page(record);
    for (const char* const way :
         {"http:", "https:", "src=", "href=", "<script", "@import", "url(h"})
      EXPECT_THAT(page, Not(HasSubstr(way)));
    EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  }
}

TEST(AcceptancePage, EscapesEveryText) {
  const std::string page = html_page(test::hostile());
  for (const char* const text : {"<b a", "<script", "&amp;\n", "\x1b", "\xff"})
    EXPECT_THAT(page, Not(HasSubstr(text)));
  EXPECT_THAT(page, HasSubstr("&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;amp;"));
}

TEST(AcceptancePage, NeverSaysNan) {
  for (const Record& record :
       {test::unmeasured(), test::one_host(), test::incomplete(), Record{}}) {
    const std::string page = html_page(record);
    EXPECT_THAT(page, Not(HasSubstr("nan")));
    EXPECT_THAT(page, Not(HasSubstr("-inf")));
    EXPECT_THAT(page, HasSubstr("</html>"));
  }
}

TEST(AcceptancePage, ARunThatEndedEarlyDoesNotPass) {
  const std::string page = html_page(test::incomplete());
  EXPECT_THAT(page, HasSubstr("<span class=\"word\">INCONCLUSIVE</span>"));
  EXPECT_THAT(page, HasSubstr("The run ended early"));
}

TEST(AcceptancePage, FactsThatDifferAreApart) {
  const std::string section = hosts_section(test::sample());
  EXPECT_THAT(section, HasSubstr("<td class=\"value code odd\">565.57.01</td><td class=\"num\">1"
                                 "</td><td class=\"words\">node2</td>"));
  EXPECT_THAT(section, HasSubstr("<td class=\"value code\">570.124.06</td><td class=\"num\">7</td>"
                                 "<td class=\"words\">node0, node1, node3 to node7</td>"));
  EXPECT_THAT(section, HasSubstr("<em>not said</em>"));
  EXPECT_THAT(section, HasSubstr("<dt>kernel</dt><dd>6.8.0-45-generic</dd>"));
  EXPECT_THAT(hosts_section(test::many_hosts()),
              HasSubstr("another value on each host; 10.0.0.1 on rack00-node000"));
}

TEST(AcceptancePage, RangesOfNames) {
  EXPECT_EQ(name_ranges({}), "");
  EXPECT_EQ(name_ranges({"a"}), "a");
  EXPECT_EQ(name_ranges({"n1", "n2"}), "n1, n2");
  EXPECT_EQ(name_ranges({"n09", "n10", "n11", "n13", "m14"}), "n09 to n11, n13, m14");
  EXPECT_EQ(name_ranges({"n99999999999", "x", "x"}), "n99999999999, x, x");
}

}  // namespace
}  // namespace ccl_tests::acceptance
