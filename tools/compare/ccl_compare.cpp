// ccl_compare: is the new version slower, by two results files or two commands.
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>

#include "src/core/error.hpp"
#include "src/core/output_file.hpp"
#include "src/core/write_all.hpp"
#include "src/job/startup.hpp"
#include "src/options/program_texts.hpp"
#include "tools/compare/arguments.hpp"

namespace ccl_tests::compare {
namespace {

// A file that the user asked for. It is made before anything runs, so that a wrong name costs no
// time, and is gone if nothing was written.
class Output {
 public:
  Output(const std::string& path, std::string_view suffix) {
    if (path.empty()) return;
    was_there_ = ::access(path.c_str(), F_OK) == 0;
    file_.emplace(OutputFile::create(path, suffix));
    if (file_->path() == path) return;
    was_there_ = false;
    print_error(fmt::format("ccl_compare: {} exists; writing {}\n", path, file_->path()));
  }
  ~Output() {
    if (!file_ || written_ || was_there_) return;
    try {
      file_->check();  // another file may have its name
      ::unlink(file_->path().c_str());
    } catch (const Error&) {
    }
  }
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string (*text)(const Report&), const Report& report) {
    if (!file_) return;
    file_->append(text(report));
    written_ = true;
    file_->close();
  }

 private:
  std::optional<OutputFile> file_;
  bool was_there_ = false, written_ = false;
};

void print(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw Error("cannot write the table to stdout");
}

int run(const Arguments& a) {
  Output json(a.json, a.json.ends_with(".jsonl") ? ".jsonl" : ".json");
  Output markdown(a.markdown, ".md");
  Output junit(a.junit, ".xml");
  const Report report = a.files.empty() ? compare_commands(a.commands, a.plan)
                                        : compare_files(a.files[0], a.files[1], a.plan);
  bool all_written = true;
  const auto write = [&](Output& file, std::string (*text)(const Report&)) {
    try {
      file.write(text, report);
    } catch (const Error& e) {  // the others are written
      print_error(fmt::format("ccl_compare: {}\n", e.what()));
      all_written = false;
    }
  };
  write(json, json_text);
  write(markdown, markdown_text);
  write(junit, junit_text);
  print(table_text(report));
  return exit_code(all_written ? summary(report).code : Exit::failed);
}

int help() {
  print(help_of(texts(), declare_flags));
  return exit_code(Exit::passed);
}

}  // namespace
}  // namespace ccl_tests::compare

int main(int argc, char** argv) {
  using namespace ccl_tests;
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error
  reserve_standard_files();
  try {
    const compare::Arguments arguments = compare::parse({argv + std::min(argc, 1), argv + argc});
    return arguments.help ? compare::help() : compare::run(arguments);
  } catch (const compare::Interrupted& e) {
    print_error(fmt::format("ccl_compare: interrupted by signal {}\n", e.signal));
    constexpr int killed = 128;  // as shells count
    return killed + e.signal;
  } catch (const Error& e) {
    print_error(fmt::format("ccl_compare: {}\n", e.what()));
    return exit_code(e.code());
  } catch (const std::exception& e) {
    print_error(fmt::format("ccl_compare: {}\n", e.what()));
    return exit_code(Exit::failed);
  }
}
