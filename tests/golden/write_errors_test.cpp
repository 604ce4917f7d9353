// Files that cannot be had, names that are taken, and disks that fill up.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <nlohmann/json.hpp>
#include <tuple>

#include "src/core/error.hpp"
#include "src/report/outputs.hpp"
#include "src/report/reporter.hpp"
#include "src/report/verdict_file.hpp"
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
  const auto first = file_reporter(path);  // which still writes, though its file is empty
  EXPECT_EQ(first->path(), directory.file("out.0.csv"));
  EXPECT_EQ(file_reporter(path)->path(), directory.file("out.1.csv"));
  EXPECT_EQ(samples::read(path), "precious");
  EXPECT_EQ(file_reporter(directory.file("new.csv"))->path(), directory.file("new.csv"));
}

// Behind the suffix as nccl-tests does; other files keep theirs, which readers go by.
TEST(FileReporter, NumbersANcclTestsFileBehindItsSuffix) {
  const TemporaryFolder directory;
  for (const auto& [name, first, second] :
       {std::tuple("a.json", "a.json.0", "a.json.1"), std::tuple("A.JSON", "A.JSON.0", "A.JSON.1"),
        std::tuple("a.jsonl", "a.0.jsonl", "a.1.jsonl"),
        std::tuple("a.bmf.json", "a.0.bmf.json", "a.1.bmf.json"),
        std::tuple("a.gbench.json", "a.0.gbench.json", "a.1.gbench.json")}) {
    std::vector<decltype(file_reporter(name))> files;  // which still write
    for (const char* expected : {name, first, second}) {
      files.push_back(file_reporter(directory.file(name)));
      EXPECT_EQ(files.back()->path(), directory.file(expected));
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

// What may become of a file while a run writes to it, and what is said of that.
struct Loss {
  const char* what;
  void (*happens)(const std::string& path);
};
constexpr Loss losses[] = {
    {"was removed", [](const std::string& path) { std::filesystem::remove(path); }},
    {"was removed",
     [](const std::string& path) {
       std::filesystem::remove_all(std::filesystem::path(path).parent_path());
     }},
    {"was renamed to '",
     [](const std::string& path) { std::filesystem::rename(path, path + ".1"); }},
    {"another file has taken its name",
     [](const std::string& path) {
       std::filesystem::rename(path, path + ".1");
       std::ofstream(path) << "new";
     }},
    {"has changed its length from",
     [](const std::string& path) { std::ofstream(path, std::ios::trunc); }},
    {"has changed its length from",
     [](const std::string& path) { std::ofstream(path, std::ios::app) << "more"; }}};
constexpr const char* row_by_row[] = {".jsonl", ".json",        ".csv",     ".xml",
                                      ".md",    ".gbench.json", ".bmf.json"};

TEST(FileReporter, AFileThatIsNotUnderItsNameIsAnErrorAtTheNextRowAndAtTheEnd) {
  const samples::Run run = samples::plain();
  for (const Loss& loss : losses) {
    for (const char* suffix : row_by_row) {
      const TemporaryFolder directory;
      std::filesystem::create_directory(directory.file("in"));
      const std::string path = directory.file(std::string("in/out") + suffix);
      const auto reporter = file_reporter(path);
      reporter->begin(run.record);
      reporter->row(run.rows[0]);
      loss.happens(path);
      const auto fails =
          testing::ThrowsMessage<Error>(AllOf(HasSubstr(path), HasSubstr(loss.what)));
      EXPECT_THAT([&] { reporter->row(run.rows[1]); }, fails) << suffix;
      EXPECT_THAT([&] { reporter->end(run.summary); }, fails) << suffix;
    }
  }
}

// Behind the last row, all ends are still to be written.
TEST(FileReporter, AFileThatIsLostFailsTheRunInAllItsEnds) {
  const samples::Run run = samples::plain();
  for (const Loss& loss : losses) {
    const TemporaryFolder directory;
    std::filesystem::create_directory(directory.file("in"));
    Outputs outputs;
    outputs.add(file_reporter(directory.file("in/lost.jsonl")));
    outputs.add(file_reporter(directory.file("kept.jsonl")));  // its end is written first
    outputs.begin(run.record, {});
    for (const Row& row : run.rows) outputs.row(row, {});
    loss.happens(directory.file("in/lost.jsonl"));
    RunSummary summary = run.summary;
    outputs.end({}, summary, {});
    EXPECT_EQ(summary.exit_code, exit_code(Exit::failed));
    EXPECT_EQ(summary.verdict, Verdict::incomplete);
    EXPECT_THAT(summary.failure, AllOf(HasSubstr("in/lost.jsonl"), HasSubstr(loss.what)));
    EXPECT_EQ(outputs.unwritten(), std::vector<std::string>{summary.failure});
    const auto footer =
        nlohmann::json::parse(samples::lines(samples::read(directory.file("kept.jsonl"))).back());
    EXPECT_EQ(footer.at("footer").at("exit_code"), 4);
    EXPECT_EQ(footer.at("footer").at("failure"), summary.failure);
  }
}

// Its file is written by name, again and again: what counts is that the end can be written.
TEST(VerdictFile, WhoseFolderIsGoneFailsTheRunInAllItsEnds) {
  const TemporaryFolder directory;
  std::filesystem::create_directory(directory.file("in"));
  Outputs outputs;
  outputs.add(file_reporter(directory.file("kept.jsonl")));  // its end is written first
  outputs.add(verdict_reporter(directory.file("in/verdict.json")));
  outputs.begin(samples::plain().record, {});
  std::filesystem::remove_all(directory.file("in"));
  RunSummary summary = samples::plain().summary;
  outputs.end({}, summary, {});
  EXPECT_EQ(summary.exit_code, exit_code(Exit::failed));
  EXPECT_THAT(summary.failure, HasSubstr("in/verdict.json'"));
  EXPECT_THAT(samples::lines(samples::read(directory.file("kept.jsonl"))).back(),
              AllOf(HasSubstr("\"complete\":false"), HasSubstr("in/verdict.json'")));
}

TEST(VerdictFile, MayBeAPipeThatIsReadLater) {
  const TemporaryFolder directory;
  const std::string fifo = directory.file("verdict");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const int reader = ::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  const auto reporter = verdict_reporter(fifo);
  ::close(reader);
  EXPECT_NO_THROW(reporter->check());
}

// Neither a way through a link, a folder's descriptor or this process's folder, nor a second name.
TEST(FileReporter, AFileIsFoundWhateverLeadsToIt) {
  const TemporaryFolder directory;
  std::filesystem::create_directory(directory.file("in"));
  std::filesystem::create_symlink(directory.file("in"), directory.file("link"));
  const int folder = ::open(directory.file("in").c_str(), O_DIRECTORY | O_RDONLY | O_CLOEXEC);
  const std::string there = "/proc/self/fd/" + std::to_string(folder);
  const samples::Run run = samples::plain();
  for (const std::string& path :
       {directory.file("link/a.jsonl"), there + "/b.jsonl", directory.file("in/../in/c.jsonl"),
        "/proc/self/root" + directory.file("in/d.jsonl")}) {
    const auto reporter = file_reporter(path);
    EXPECT_EQ(reporter->path(), path);
    reporter->begin(run.record);
    std::filesystem::create_hard_link(path, path + ".also");
    for (const Row& row : run.rows) EXPECT_NO_THROW(reporter->row(row)) << path;
    EXPECT_NO_THROW(reporter->end(run.summary)) << path;
    std::filesystem::remove(path);
    std::filesystem::remove(path + ".also");
  }
  ::close(folder);
}

TEST(OutputFile, APipeOrADeviceIsNoFileThatCanBeLost) {
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const int device = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int special : {pipe[0], pipe[1], device}) {
    EXPECT_EQ(identity_of(special, "/dev/null").inode, 0U);
    EXPECT_EQ(lost_name(special, "nowhere", {}), "");
    ::close(special);
  }
}

TEST(FileReporter, APipeIsRefusedWithAWayToPipe) {
  const TemporaryFolder directory;
  const std::string fifo = directory.file("pipe.jsonl");
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  for (const std::string& path :
       {std::string("-"), std::string("/dev/stdout"), "/dev/fd/" + std::to_string(pipe[1]),
        "/proc/self/fd/" + std::to_string(pipe[1]), fifo})
    EXPECT_THAT([&] { file_reporter(path); }, names(path, "'tail -F FILE.jsonl | jq .'"));
  EXPECT_FALSE(std::filesystem::exists(directory.file("pipe.0.jsonl")));
  ::close(pipe[0]);
  ::close(pipe[1]);
}

}  // namespace
}  // namespace ccl_tests
