#include "tools/acceptance/report/page.hpp"

#include <array>
#include <string_view>

#include "src/report/text.hpp"
#include "tools/acceptance/report/headline.hpp"
#include "tools/acceptance/report/terminal.hpp"
#include "tools/acceptance/report/verdict_json.hpp"

namespace ccl_tests::acceptance {

// page.html with page_pictures.js: the build makes a source of them.
extern const std::string_view page_template;

namespace {

struct Part {
  std::string_view name;  // in the page, where the text belongs
  std::string text;
};

// Returns JSON that cannot end the element it stands in: "<" occurs in strings only.
std::string without_tags(std::string_view json) {
  std::string text;
  for (const char c : json) {
    if (c == '<')
      text += "\\u003c";
    else
      text += c;
  }
  return text;
}

}  // namespace

std::string html_page(const Record& record) {
  Record shown = record;
  shown.headline = headline(record);
  const std::array<Part, 3> parts = {{{"{{headline}}", xml_text(shown.headline)},
                                      {"{{text}}", xml_lines(terminal_text(shown))},
                                      {"{{verdict}}", without_tags(verdict_json(shown))}}};
  std::string text;
  std::size_t begin = 0;
  for (const Part& part : parts) {
    const std::size_t end = page_template.find(part.name, begin);
    text += page_template.substr(begin, end - begin);
    text += part.text;
    begin = end + part.name.size();
  }
  text += page_template.substr(begin);
  return text;
}

}  // namespace ccl_tests::acceptance
