#include "src/options/options.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <filesystem>
#include <map>

#include "collectives/collectives.hpp"
#include "src/core/error.hpp"
#include "src/run/run_header.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ccl_tests {
namespace {

using testing::HasSubstr;
using Variables = std::map<std::string, std::string>;

CollectiveOptions read(const Variables& variables) {
  const auto find = [&](const char* name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  };
  return parse_options(collectives::alltoallv, {}, find).options.spec;
}

std::string refusal(const Variables& variables) {
  try {
    read(variables);
  } catch (const UsageError& e) {
    return e.what();
  }
  return "(accepted)";
}

class AlltoallvOptions : public testing::Test {
 protected:
  Variables file(const std::string& text) {
    return {{"NCCL_TESTS_ALLTOALLV_MATRIX_FILE", folder_.write("matrix", text)}};
  }
  TemporaryFolder folder_;
};

TEST_F(AlltoallvOptions, Spread) {
  EXPECT_EQ(read({}).alltoallv_spread, 1);
  EXPECT_EQ(read({{"NCCL_TESTS_ALLTOALLV_SPREAD", "0.25"}}).alltoallv_spread, 0.25);
  for (const char* value : {"1.5", "-1", "x", ""}) {
    const std::string line = refusal({{"NCCL_TESTS_ALLTOALLV_SPREAD", value}});
    EXPECT_THAT(line, HasSubstr("NCCL_TESTS_ALLTOALLV_SPREAD: "));
    EXPECT_THAT(line, HasSubstr("accepted: "));
  }
}

TEST_F(AlltoallvOptions, MatrixIsScaledAndRoundedDownTo16Bytes) {
  using Matrix = std::vector<std::vector<std::size_t>>;
  EXPECT_EQ(read(file("16 32\n\n0\t47\n")).alltoallv_bytes, (Matrix{{16, 32}, {0, 32}}));
  Variables scaled = file("16 32\n1 47\n");
  scaled["NCCL_TESTS_ALLTOALLV_MATRIX_SCALE"] = "1.5";
  EXPECT_EQ(read(scaled).alltoallv_bytes, (Matrix{{16, 48}, {0, 64}}));
}

TEST_F(AlltoallvOptions, BadMatricesAreRefusedByName) {
  for (const char* text : {"", "\n\n", "1 2\n3\n", "1 2 3\n4 5 6\n", "1 x\n2 3\n", "1 -2\n3 4\n",
                           "1 nan\n3 4\n", "1e300 1\n1 1\n"}) {
    const std::string line = refusal(file(text));
    EXPECT_EQ(line.rfind("NCCL_TESTS_ALLTOALLV_MATRIX_FILE: ", 0), 0U) << line;
    EXPECT_THAT(line, HasSubstr("accepted: ")) << text;
    EXPECT_EQ(line.find('\n'), std::string::npos);
  }
  const std::string line = refusal({{"NCCL_TESTS_ALLTOALLV_MATRIX_FILE", "/does/not/exist"}});
  EXPECT_THAT(line, HasSubstr("'/does/not/exist'"));
  EXPECT_THAT(refusal({{"NCCL_TESTS_ALLTOALLV_MATRIX_SCALE", "big"}}),
              HasSubstr("NCCL_TESTS_ALLTOALLV_MATRIX_SCALE: "));
}

TEST_F(AlltoallvOptions, OnlyARegularFileOfBoundedLengthIsRead) {
  const auto of = [](const std::string& path) {
    return refusal({{"NCCL_TESTS_ALLTOALLV_MATRIX_FILE", path}});
  };
  EXPECT_THAT(of("/dev/zero"), HasSubstr("'/dev/zero' is not a regular file"));
  EXPECT_THAT(of(folder_.path()), HasSubstr("is not a regular file"));
  const std::string pipe = folder_.path() + "/pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(of(pipe), HasSubstr("is not a regular file"));
  const std::string large = folder_.write("large", "");
  std::filesystem::resize_file(large, (64 << 20) + 1);
  EXPECT_THAT(of(large), HasSubstr("is too large; accepted: a file of up to 64M"));
}

TEST_F(AlltoallvOptions, AWordOfABinaryFileIsShownEscapedAndShortened) {
  const std::string line = refusal(file("\x1b[31m" + std::string(5000, '\x01')));
  EXPECT_THAT(line, HasSubstr("'\\x1b[31m\\x01"));
  EXPECT_EQ(line.find('\x01'), std::string::npos);
  EXPECT_LT(line.size(), 500U);
}

TEST_F(AlltoallvOptions, MatrixHasToHoldAllRanks) {
  Options options;
  const auto check = [&](int ranks) {
    check_groups(collectives::alltoallv, options, unplaced_groups(options, ranks));
  };
  EXPECT_NO_THROW(check(4));
  options.spec = read(file("16 32 0\n48 64 0\n0 0 1600\n"));
  EXPECT_NO_THROW(check(2));
  EXPECT_NO_THROW(check(3));
  EXPECT_THROW(check(4), UsageError);
}

TEST_F(AlltoallvOptions, Summary) {
  Options options;
  options.spec = read({{"NCCL_TESTS_ALLTOALLV_SPREAD", "0"}});
  EXPECT_TRUE(alltoallv_summary(collectives::alltoallv, options, 4, 1024).empty());
  options.spec =
      read({{"NCCL_TESTS_ALLTOALLV_SPREAD", "0"}, {"NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY", "1"}});
  const auto lines = alltoallv_summary(collectives::alltoallv, options, 4, 1024);
  ASSERT_EQ(lines.size(), 5U);
  EXPECT_THAT(lines[3], HasSubstr("rank  2 sends 1024 in blocks of 256 to 256, receives 1024"));
  EXPECT_TRUE(alltoallv_summary(collectives::all_reduce, options, 4, 1024).empty());
  EXPECT_EQ(alltoallv_summary(collectives::alltoallv, options, 100, 102'400).size(), 66U);
  EXPECT_THAT(refusal({{"NCCL_TESTS_ALLTOALLV_PRINT_SUMMARY", "yes"}}), HasSubstr("from 0 to 1"));
}

}  // namespace
}  // namespace ccl_tests
