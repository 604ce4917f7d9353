// acceptance_pages FOLDER: what the writers make of each sample record, for a browser and for readers of XML and JSON.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>

#include "tests/unit/acceptance_sample.hpp"
#include "tools/acceptance/report/writers.hpp"

namespace ccl_tests::acceptance {
namespace {

void write(const std::filesystem::path& folder, const std::string& name, const Record& record) {
  std::ofstream(folder / (name + ".html")) << html_page(record);
  std::ofstream(folder / (name + ".xml")) << junit_text(record);
  std::ofstream(folder / (name + ".json")) << verdict_json(record);
  std::ofstream(folder / (name + ".txt")) << terminal_text(record, {name + ".json"});
}

int run(const std::filesystem::path& folder) {
  write(folder, "sample", test::sample());
  write(folder, "many", test::many_hosts());
  write(folder, "hostile", test::hostile());
  write(folder, "unmeasured", test::unmeasured());
  write(folder, "one", test::one_host());
  write(folder, "relative", test::relative());
  write(folder, "incomplete", test::incomplete());
  write(folder, "empty", Record{});
  return 0;
}

}  // namespace
}  // namespace ccl_tests::acceptance

int main(int count, char** arguments) {
  try {
    if (count == 2) return ccl_tests::acceptance::run(arguments[1]);
    std::fputs("usage: acceptance_pages FOLDER\n", stderr);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "acceptance_pages: %s\n", e.what());
    return 4;
  }
  return 2;
}
