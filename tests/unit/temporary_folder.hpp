// A folder of files that a test makes up, gone with the test.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>

#include "src/core/output_file.hpp"

namespace ccl_tests {

class TemporaryFolder : public ScratchFolder {
 public:
  TemporaryFolder() : ScratchFolder("ccl-test-") {}

  // Writes the file, with the folders above it; returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = this->file(name);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
    return file.string();
  }
};

}  // namespace ccl_tests
