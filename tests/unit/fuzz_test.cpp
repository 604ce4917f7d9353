// Bytes from outside do no harm: the corpus of tests/fuzz, and some thousands of mutations of it. scripts/fuzz.sh is the long run.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/targets.hpp"

namespace ccl_tests::fuzz {

void PrintTo(const Target& target, std::ostream* out) { *out << target.name; }

namespace {

std::vector<std::string> corpus(std::string_view target) {
  std::vector<std::string> inputs = {""};
  std::vector<std::filesystem::path> files;
  for (const auto& file :
       std::filesystem::directory_iterator(std::filesystem::path(CCL_FUZZ_CORPUS) / target))
    files.push_back(file.path());
  std::sort(files.begin(), files.end());
  for (const auto& path : files) {
    std::ifstream file(path, std::ios::binary);
    inputs.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  return inputs;
}

// One to four changes: a byte, a bit, a piece twice, a piece less, the end of another input.
std::string mutated(std::string input, const std::vector<std::string>& others,
                    std::mt19937& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  for (std::size_t changes = 1 + below(4); changes > 0; --changes) {
    const std::size_t at = below(input.size());
    switch (below(5)) {
      case 0:
        if (!input.empty()) input[at] = static_cast<char>(random());
        break;
      case 1:
        if (!input.empty()) input[at] = static_cast<char>(input[at] ^ (1 << below(8)));
        break;
      case 2: input.insert(at, input.substr(at, below(64))); break;
      case 3: input.erase(at, below(16)); break;
      default: {
        const std::string& other = others[below(others.size())];
        input = input.substr(0, at) + other.substr(below(other.size()));
      }
    }
  }
  return input;
}

class Fuzz : public testing::TestWithParam<Target> {};
INSTANTIATE_TEST_SUITE_P(Targets, Fuzz, testing::ValuesIn(targets().begin(), targets().end()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_P(Fuzz, SurvivesItsCorpusAndMutations) {
  const std::vector<std::string> inputs = corpus(GetParam().name);
  EXPECT_GT(inputs.size(), 5U);
  for (const std::string& input : inputs) GetParam().run(input);
  std::mt19937 random(1);
  const bool connects = GetParam().name == "store_replies" || GetParam().name == "members";
  const int mutations = connects ? 200 : 3000;
  for (int k = 0; k < mutations; ++k)
    GetParam().run(mutated(inputs[random() % inputs.size()], inputs, random));
}

}  // namespace
}  // namespace ccl_tests::fuzz
