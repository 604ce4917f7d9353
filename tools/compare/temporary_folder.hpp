// A place for the results of runs that nobody keeps.
#pragma once

#include <filesystem>
#include <string>

namespace ccl_tests::compare {

// A folder under TMPDIR that is removed with its contents.
class TemporaryFolder {
 public:
  TemporaryFolder();  // throws Error
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const std::string& name) const { return (path_ / name).string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace ccl_tests::compare
