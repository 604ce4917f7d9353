// write_manuals FOLDER DATE: manual pages and completion of all programs, where an installed tree
// has them below share/. The build runs it.
#include <fmt/format.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>

#include "collectives/collectives.hpp"
#include "src/options/flags.hpp"
#include "src/options/program_texts.hpp"
#include "src/programs/program.hpp"
#include "src/report/explanations.hpp"
#include "tools/acceptance/arguments.hpp"
#include "tools/check_arguments.hpp"
#include "tools/compare/arguments.hpp"
#include "tools/mesh/arguments.hpp"
#include "tools/replay/arguments.hpp"
#include "tools/selftest/arguments.hpp"

namespace ccl_tests::tools {
namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream file(path);
  file << text;
  if (!file.flush()) throw Error("cannot write " + path.string());
}

void write_files(const std::filesystem::path& folder, const std::string& date,
                 const ProgramTexts& program, const FlagSet& set) {
  for (const Flag& flag : set.all())
    if (flag.names_file() != (flag.file_use != FileUse::none))
      throw Error(fmt::format("{} {}: does not say whether its file is read or written (FileUse)",
                              program.name, flag.names.front()));
  write(folder / "man/man1" / (program.name + ".1"), manual_page(program, set, date));
  write(folder / "bash-completion/completions" / program.name, bash_completion(program, set));
  write(folder / "zsh/site-functions" / ('_' + program.name), zsh_completion(program, set));
}

std::vector<Definitions> output_of(const Collective& collective) {
  std::vector<Definitions> parts;
  for (const Explanation& e : explanations(collective)) {
    const std::string_view part = title(e.kind);
    if (parts.empty() || parts.back().title != part) parts.push_back({std::string(part), {}});
    parts.back().lines.emplace_back(e.name, e.text);
  }
  return parts;
}

void write_files(const std::filesystem::path& folder, const std::string& date,
                 const Collective& collective) {
  const ProgramFlags flags(collective);
  ProgramTexts program = texts_of(collective);
  if (collective.domain.sweeps) program.output = output_of(collective);
  write_files(folder, date, program, flags.set);
}

// Writes the page of a tool whose command line is Arguments.
template <class Arguments>
void write_files(const std::filesystem::path& folder, const std::string& date,
                 const ProgramTexts& program) {
  Arguments arguments;
  FlagSet set;
  declare_flags(set, arguments);
  write_files(folder, date, program, set);
}

}  // namespace
}  // namespace ccl_tests::tools

int main(int argc, char** argv) {
  using namespace ccl_tests;
  try {
    if (argc != 3) throw UsageError("usage: write_manuals FOLDER DATE");
    for (const Collective* collective : collectives::all())
      tools::write_files(argv[1], argv[2], *collective);
    tools::write_files(argv[1], argv[2], init_spec);
    tools::write_files<compare::Arguments>(argv[1], argv[2], compare::texts());
    tools::write_files<tools::CheckArguments>(argv[1], argv[2], tools::check_texts());
    tools::write_files<mesh::Arguments>(argv[1], argv[2], mesh::texts());
    tools::write_files<replay::Arguments>(argv[1], argv[2], replay::texts());
    tools::write_files<selftest::Arguments>(argv[1], argv[2], selftest::texts());
    tools::write_files<acceptance::Arguments>(argv[1], argv[2], acceptance::texts());
    return exit_code(Exit::passed);
  } catch (const Error& e) {
    fmt::print(stderr, "write_manuals: {}\n", e.what());
    return exit_code(e.code());
  } catch (const std::exception& e) {
    fmt::print(stderr, "write_manuals: {}\n", e.what());
    return exit_code(Exit::failed);
  }
}
