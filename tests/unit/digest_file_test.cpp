// Digests of one run are compared with those of the next one.
#include "src/record/reproductions.hpp"

#include <gmock/gmock.h>

#include "src/core/error.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace ccl_tests {
namespace {

using testing::HasSubstr;

std::string text_of(const std::string& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(DigestFile, KeepsWhatIsNewAndComparesWhatIsKnown) {
  const TemporaryFolder folder;
  const std::string path = folder.file("digests");
  {
    DigestFile first(path);
    EXPECT_FALSE(first.compare("a, 1 ranks", "0123456789abcdef"));
    EXPECT_FALSE(first.compare("b", "0000000000000001"));
    const auto known = first.compare("b", "0000000000000002");
    ASSERT_TRUE(known);
    EXPECT_EQ(known->digest, "0000000000000001");
    EXPECT_FALSE(known->from_file);
  }
  EXPECT_EQ(text_of(path), "0123456789abcdef  a, 1 ranks\n0000000000000001  b\n");
  DigestFile second(path);
  EXPECT_EQ(second.compare("b", "0000000000000001")->digest, "0000000000000001");
  const auto known = second.compare("a, 1 ranks", "0123456789abcdee");
  ASSERT_TRUE(known);
  EXPECT_TRUE(known->from_file);
  EXPECT_FALSE(second.compare("c", "00000000000000ff"));
  EXPECT_THAT(text_of(path), HasSubstr("\n00000000000000ff  c\n"));
}

TEST(DigestFile, IsOneRunsAtATime) {
  const TemporaryFolder folder;
  const std::string path = folder.file("digests");
  {
    const DigestFile first(path);
    try {
      const DigestFile second(path);
      FAIL();
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("another run writes"));
    }
  }
  EXPECT_NO_THROW(DigestFile{path});
}

TEST(DigestFile, ThatIsNotUnderItsNameIsAnError) {
  const TemporaryFolder folder;
  const std::string path = folder.file("digests");
  DigestFile digests(path);
  digests.compare("a", "0123456789abcdef");
  EXPECT_NO_THROW(digests.check());
  std::filesystem::rename(path, path + ".1");
  const auto lost = testing::ThrowsMessage<Error>(HasSubstr("was renamed to"));
  EXPECT_THAT([&] { digests.check(); }, lost);
  EXPECT_THAT([&] { digests.compare("b", "0123456789abcdef"); }, lost);
}

TEST(DigestFile, WithoutAFileKnowsTheRowsOfTheRun) {
  DigestFile digests;
  EXPECT_FALSE(digests.compare("a", "0123456789abcdef"));
  EXPECT_EQ(digests.compare("a", "0123456789abcdee")->digest, "0123456789abcdef");
}

TEST(DigestFile, RefusesWhatItHasNotWritten) {
  const TemporaryFolder folder;
  for (const char* line :
       {"hello\n", "0123456789abcdef a\n", "0123456789abcde  a\n", "0123456789abcdef  \n",
        "0123456789ABCDEF  a\n", "\n", "0123456789abcdef  b", "0123456789abcdee  a\n"}) {
    const std::string path = folder.write("other", std::string("0123456789abcdef  a\n") + line);
    try {
      DigestFile digests(path);
      FAIL() << line;
    } catch (const UsageError& error) {
      EXPECT_THAT(error.what(), HasSubstr("--digests: line 2 of"));
    }
    EXPECT_EQ(text_of(path), std::string("0123456789abcdef  a\n") + line) << "changed";
  }
  for (const std::string& path :
       {folder.file("no/such/folder"), folder.path(), std::string("/dev/full")})
    EXPECT_THROW(DigestFile{path}, UsageError) << path;
}

}  // namespace
}  // namespace ccl_tests
