// Files that cannot be had, names that are taken, and disks that fill up.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>

#include "src/core/error.hpp"
#include "src/report/writers.hpp"
#include "tests/golden/samples.hpp"

namespace ccl_tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;

auto names(const std::string& path, const std::string& reason) {
  return testing::ThrowsMessage<UsageError>(AllOf(HasSubstr(path), HasSubstr(reason)));
}

TEST(FileReporter, UnknownSuffixNamesTheKnownOnes) {
  for (const char* path : {"out", "out.txt", "json", "out.json.bak", ""}) {
    EXPECT_THAT([&] { file_reporter(path); }, names(path, std::string(accepted_suffixes)));
  }
}

TEST(FileReporter, MissingDirectoryAndDirectoryAreUsageErrors) {
  const TemporaryFolder directory;
  const std::string missing = directory.file("missing/out.csv");
  EXPECT_THAT([&] { file_reporter(missing); }, names(missing, "No such file or directory"));
  const std::string taken = directory.file("out.json");
  std::filesystem::create_directory(taken);
  EXPECT_THAT([&] { file_reporter(taken); }, names(taken, "Is a directory"));
}

TEST(FileReporter, SuffixIsTakenInEitherCase) {
  const TemporaryFolder directory;
  const std::string path = directory.file("Out.JsonL");
  file_reporter(path)->begin(samples::plain().record);
  EXPECT_EQ(nlohmann::json::parse(samples::read(path)).at("type"), "header");
}

TEST(FileReporter, NeverOverwritesAndSaysWhichNameItTook) {
  const TemporaryFolder directory;
  const std::string path = directory.file("out.csv");
  std::ofstream(path) << "precious";
  std::string opened;
  file_reporter(path, &opened);
  EXPECT_EQ(opened, directory.file("out.0.csv"));
  file_reporter(path, &opened);
  EXPECT_EQ(opened, directory.file("out.1.csv"));
  EXPECT_EQ(samples::read(path), "precious");
  file_reporter(directory.file("new.csv"), &opened);
  EXPECT_EQ(opened, directory.file("new.csv"));
}

// Behind the suffix as nccl-tests does; other files keep theirs, which readers go by.
TEST(FileReporter, NumbersANcclTestsFileBehindItsSuffix) {
  const TemporaryFolder directory;
  std::string opened;
  for (const auto& [name, first, second] :
       {std::tuple("a.json", "a.json.0", "a.json.1"), std::tuple("A.JSON", "A.JSON.0", "A.JSON.1"),
        std::tuple("a.jsonl", "a.0.jsonl", "a.1.jsonl"),
        std::tuple("a.bmf.json", "a.0.bmf.json", "a.1.bmf.json"),
        std::tuple("a.gbench.json", "a.0.gbench.json", "a.1.gbench.json")}) {
    for (const char* expected : {name, first, second}) {
      file_reporter(directory.file(name), &opened);
      EXPECT_EQ(opened, directory.file(expected));
    }
  }
}

TEST(FileReporter, AFullDiskIsAnErrorThatNamesTheFile) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "no /dev/full here";
  for (const auto writer : {json_lines_reporter, nccl_json_reporter, csv_reporter, junit_reporter,
                            google_benchmark_reporter, bencher_reporter, markdown_reporter}) {
    const auto begin = [&] {
      const auto reporter = writer(OutputFile(::open("/dev/full", O_RDWR | O_CLOEXEC), "my.file"));
      reporter->begin(samples::plain().record);
    };
    EXPECT_THAT(begin, testing::ThrowsMessage<Error>(
                           AllOf(HasSubstr("my.file"), HasSubstr("No space left"))));
  }
}

// Files of this process cannot grow beyond `bytes` while this lives: a disk that fills up.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    const rlimit limit{bytes, old_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~SmallDisk() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallDisk(const SmallDisk&) = delete;
  SmallDisk& operator=(const SmallDisk&) = delete;

 private:
  rlimit old_{};
  void (*handler_)(int);
};

TEST(FileReporter, AWriteThatFailsHalfWayLeavesTheFileAsItWas) {
  const samples::Run run = samples::plain();
  for (const char* suffix :
       {".jsonl", ".json", ".csv", ".xml", ".md", ".gbench.json", ".bmf.json"}) {
    const TemporaryFolder directory;
    const std::string path = directory.file(std::string("out") + suffix);
    const auto reporter = file_reporter(path);
    reporter->begin(run.record);
    reporter->row(run.rows[0]);
    const std::string before = samples::read(path);
    {
      const SmallDisk disk(before.size() + 10);
      EXPECT_THAT([&] { reporter->row(run.rows[1]); },
                  testing::ThrowsMessage<Error>(HasSubstr(path)));
    }
    EXPECT_EQ(samples::read(path), before);
    reporter->row(run.rows[1]);
    reporter->end(run.summary);
    EXPECT_EQ(samples::read(path), samples::file(run, suffix));
  }
}

}  // namespace
}  // namespace ccl_tests
