// The page as a file: its data, its text without scripts, and nothing from elsewhere.
// tests/system/acceptance_page_test.sh looks at what a browser draws.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/unit/acceptance_sample.hpp"
#include "tools/acceptance/report/writers.hpp"

namespace ccl_tests::acceptance {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<Record> all_samples() {
  return {test::sample(),   test::many_hosts(), test::hostile(),    test::unmeasured(),
          test::one_host(), test::relative(),   test::incomplete(), Record{}};
}

// Returns what is between two texts that the page has once.
std::string between(const std::string& page, const std::string& begin, const std::string& end) {
  const std::size_t from = page.find(begin);
  if (from == std::string::npos || page.find(begin, from + 1) != std::string::npos) return {};
  const std::size_t at = from + begin.size();
  return page.substr(at, page.find(end, at) - at);
}

std::string data_of(const std::string& page) {
  return between(page, "<script type=\"application/json\" id=\"verdict\">", "</script>");
}

TEST(AcceptancePage, HasTheVerdictFileAsData) {
  for (const Record& record : all_samples()) {
    const json data = json::parse(data_of(html_page(record)));
    EXPECT_EQ(data["headline"], headline(record));
    EXPECT_EQ(data, json::parse(verdict_json(record)));
  }
}

TEST(AcceptancePage, SaysWithoutScriptsWhatTheTerminalSays) {
  for (const Record& record : {test::sample(), test::incomplete(), Record{}}) {
    const std::string page = html_page(record);
    EXPECT_EQ(between(page, "<title>", "</title>"), headline(record));
    EXPECT_EQ(between(page, "<pre>", "</pre>"), terminal_text(record));
  }
  EXPECT_THAT(html_page(test::sample()), HasSubstr("<noscript>"));
}

TEST(AcceptancePage, IsWholeAndHasNoPartLeftToFillIn) {
  for (const Record& record : all_samples()) {
    const std::string page = html_page(record);
    EXPECT_THAT(page, ::testing::EndsWith("</html>\n"));
    EXPECT_THAT(page, Not(HasSubstr("{{")));
    EXPECT_THAT(page, HasSubstr("function heatMap("));  // of page_pictures.js
  }
}

TEST(AcceptancePage, LoadsNothing) {
  for (const Record& record : {test::sample(), test::many_hosts()}) {
    const std::string page = html_page(record);
    for (const char* const way :
         {"http:", "https:", "src=", "href=", "@import", "import(", "fetch", "url(h"})
      EXPECT_THAT(page, Not(HasSubstr(way)));
    EXPECT_THAT(page, HasSubstr("default-src 'none'"));
  }
}

TEST(AcceptancePage, EscapesEveryText) {
  const std::string page = html_page(test::hostile());
  for (const char* const text : {"<b a", "<script>alert", "</b>", "\x1b", "\xff"})
    EXPECT_THAT(page, Not(HasSubstr(text)));
  EXPECT_THAT(page, HasSubstr("&lt;b a=&quot;1&quot; b=&#39;2&#39;&gt;&amp;amp;"));
  EXPECT_THAT(data_of(page), Not(HasSubstr("<")));
}

}  // namespace
}  // namespace ccl_tests::acceptance
