// What holds for all specs: there is one for each file of collectives/, and its forms belong
// together.
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

#include "collectives/collectives.hpp"

namespace ccl_tests {
namespace {

TEST(Specs, AreNamedAsTheirFiles) {
  std::set<std::string> files;
  const std::filesystem::path folder = std::filesystem::path(CCL_UNIT_DIR) / "../../collectives";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() == ".cpp") files.insert(entry.path().stem().string());
  }
  std::set<std::string> specs;
  for (const Collective* spec : collectives::all()) specs.insert(std::string(spec->name));
  EXPECT_EQ(specs, files);
  EXPECT_EQ(specs.size(), collectives::all().size());
}

TEST(Specs, FormsOfAProgramDifferInTheirModes) {
  for (const Collective* program : collectives::all()) {
    EXPECT_EQ(program->mode.empty(), program->modes.empty()) << program->name;
    std::set<std::string_view> modes = {program->mode};
    for (const Collective* form : program->modes) {
      EXPECT_EQ(form->name, program->name);
      EXPECT_TRUE(form->modes.empty()) << form->name;
      EXPECT_TRUE(modes.insert(form->mode).second) << form->name << " --mode " << form->mode;
    }
  }
}

// Returns whether `text` has `word`, not as a part of a longer one.
bool has_word(const std::string& text, const std::string& word) {
  const std::string inside = "abcdefghijklmnopqrstuvwxyz_";
  for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; ++at) {
    const std::size_t end = at + word.size();
    if (at > 0 && inside.find(text[at - 1]) != std::string::npos) continue;
    if (end == text.size() || inside.find(text[end]) == std::string::npos) return true;
  }
  return false;
}

// Lists that people keep by hand: the README's and the pages of programs and of primitives.
TEST(Specs, AreInTheDocuments) {
  for (const std::string name : {"README.md", "docs/PROGRAMS.md", "docs/PRIMITIVES.md"}) {
    std::ifstream file(std::filesystem::path(CCL_UNIT_DIR) / "../.." / name);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    for (const Collective* spec : collectives::all()) {
      const bool is_primitive = spec->needs.step_times && !spec->flags.routing;
      if (name == "docs/PRIMITIVES.md" && !is_primitive) continue;
      const std::string program = std::string(spec->name) + "_perf";
      EXPECT_TRUE(has_word(text, program)) << name << " does not have " << program;
    }
  }
}

TEST(Specs, NameOperationsOnlyIfTheyReduce) {
  for (const Collective* program : collectives::all())
    EXPECT_TRUE(program->domain.reduces || program->domain.ops.empty()) << program->name;
}

}  // namespace
}  // namespace ccl_tests
