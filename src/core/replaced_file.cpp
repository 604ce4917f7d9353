#include "src/core/replaced_file.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/core/write_all.hpp"

namespace ccl_tests {
namespace {

[[noreturn]] void refuse(const std::string& path, const char* why) {
  throw Error(
      fmt::format("cannot write results to {}: {}", quote(path, shown_path_characters), why));
}

// A file beside another one, gone unless its path is taken away.
struct Beside {
  explicit Beside(const std::string& other)
      : path(other + ".XXXXXX"), file(::mkstemp(path.data())) {
    if (file < 0) refuse(other, std::strerror(errno));
  }
  ~Beside() {
    ::close(file);
    if (!path.empty()) ::unlink(path.c_str());
  }
  Beside(const Beside&) = delete;
  Beside& operator=(const Beside&) = delete;

  std::string path;
  int file;
};

}  // namespace

ReplacedFile::ReplacedFile(const std::string& path) : path_(path) {
  std::error_code error;
  const auto there = std::filesystem::status(path, error);
  if (std::filesystem::exists(there)) {
    if (!std::filesystem::is_regular_file(there)) refuse(path, "Not a regular file");
    path_ = std::filesystem::canonical(path, error).string();
    mode_ = static_cast<::mode_t>(there.permissions()) & 0777;
  }
  const Beside can_be_made(path_);
}

void ReplacedFile::replace(std::string_view text) {
  Beside beside(path_);
  int error = ::fchmod(beside.file, mode_) == 0 ? write_all(beside.file, text) : errno;
  if (error == 0 &&
      (::fsync(beside.file) != 0 || std::rename(beside.path.c_str(), path_.c_str()) != 0))
    error = errno;
  if (error != 0) refuse(path_, std::strerror(error));
  beside.path.clear();
}

}  // namespace ccl_tests
