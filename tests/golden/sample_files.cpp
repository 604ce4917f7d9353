// What the writers make of sample runs, and text that breaks careless ones.
#include <algorithm>
#include <fstream>
#include <memory>
#include <random>
#include <sstream>
#include <stdexcept>

#include "tests/golden/samples.hpp"

namespace ccl_tests::samples {
namespace {

void report(const Run& run, Reporter& reporter) {
  reporter.begin(run.record);
  for (const Row& row : run.rows) reporter.row(row);
  reporter.end(run.summary);
}

}  // namespace

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

std::vector<std::string> tokens(const std::string& line) {
  std::vector<std::string> tokens;
  std::istringstream in(line);
  for (std::string token; in >> token;) tokens.push_back(token);
  return tokens;
}

namespace {

template <class Use>
std::string written_by_table(Use use) {
  const TemporaryFolder directory;
  const std::string path = directory.file("table");
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> out(std::fopen(path.c_str(), "w"), &std::fclose);
  use(*table_reporter(out.get()));
  return read(path);
}

}  // namespace

std::string table(const Run& run) {
  return written_by_table([&](Reporter& reporter) { report(run, reporter); });
}

std::string table_without_begin(const RunSummary& summary) {
  return written_by_table([&](Reporter& reporter) { reporter.end(summary); });
}

std::string file(const Run& run, const std::string& suffix) {
  const TemporaryFolder directory;
  const std::string path = directory.file("out" + suffix);
  report(run, *file_reporter(path));
  return read(path);
}

std::size_t shown_rows(const std::vector<Row>& rows) {
  return static_cast<std::size_t>(
      std::count_if(rows.begin(), rows.end(), [](const Row& row) { return !row.pass; }));
}

std::vector<std::string> odd_strings() {
  std::vector<std::string> strings = {"",
                                      ",",
                                      "\"",
                                      "\"\"",
                                      "a\"b,c\nd",
                                      "\r\n",
                                      "\n\n#\n8 2 float",
                                      "\\",
                                      "\\u0000",
                                      "\xff\xfe",
                                      "\xc3",
                                      "\xe2\x82",
                                      "\t\v\f\x1b[31m",
                                      "{}[]",
                                      "naïve €",
                                      "\x7f",
                                      "\xed\xa0\x80",
                                      " ",
                                      std::string(5000, '"'),
                                      "'",
                                      "Test failure",
                                      "# test FAILURE",
                                      "# Out of bounds values : 0 OK",
                                      "# Avg bus bandwidth    : 9 ",
                                      "# Collective test concluded: x",
                                      "%s%n{}{0}"};
  std::mt19937 random(1);
  for (int i = 0; i < 300; ++i) {
    std::string text(random() % 40, '\0');
    for (char& c : text) c = static_cast<char>(1 + random() % 255);
    strings.push_back(text);
  }
  return strings;
}

}  // namespace ccl_tests::samples
