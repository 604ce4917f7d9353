// ccl_compare: is the new version slower, by two results files or two commands.
#include <fmt/format.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>

#include "src/core/error.hpp"
#include "src/report/output_file.hpp"
#include "tools/compare/arguments.hpp"
#include "tools/compare/command.hpp"
#include "tools/compare/files.hpp"
#include "tools/compare/writers.hpp"

namespace ccl_tests::compare {
namespace {

std::optional<OutputFile> create(const std::string& path, std::string_view suffix) {
  if (path.empty()) return std::nullopt;
  OutputFile file = OutputFile::create(path, suffix);
  if (file.path() != path)
    fmt::print(stderr, "ccl_compare: {} exists; writing {}\n", path, file.path());
  return file;
}

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw Error("cannot write the table to stdout");
}

int run(const Arguments& a) {
  std::optional<OutputFile> json = create(a.json, ".jsonl");
  std::optional<OutputFile> markdown = create(a.markdown, ".md");
  std::optional<OutputFile> junit = create(a.junit, ".xml");
  const Report report = a.files.empty() ? compare_commands(a.commands, a.plan)
                                        : compare_files(a.files[0], a.files[1], a.plan.threshold);
  if (json) json->append(json_text(report));
  if (markdown) markdown->append(markdown_text(report));
  if (junit) junit->append(junit_text(report));
  print(table_text(report));
  return exit_code(summary(report).code);
}

}  // namespace
}  // namespace ccl_tests::compare

int main(int argc, char** argv) {
  using namespace ccl_tests;
  std::signal(SIGPIPE, SIG_IGN);
  try {
    const compare::Arguments arguments = compare::parse(argc, argv);
    return arguments.help ? 0 : compare::run(arguments);
  } catch (const compare::Interrupted& e) {
    fmt::print(stderr, "ccl_compare: interrupted by signal {}\n", e.signal);
    constexpr int killed = 128;  // as shells count
    return killed + e.signal;
  } catch (const Error& e) {
    fmt::print(stderr, "ccl_compare: {}\n", e.what());
    return exit_code(e.code());
  } catch (const std::exception& e) {
    fmt::print(stderr, "ccl_compare: {}\n", e.what());
    return exit_code(Exit::failed);
  }
}
