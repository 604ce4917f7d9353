#include "src/report/replaced_file.hpp"

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

namespace ccl_tests {
namespace {

[[noreturn]] void refuse(const std::string& path, const char* why) {
  throw Error(
      fmt::format("cannot write results to {}: {}", quote(path, shown_path_characters), why));
}

}  // namespace

ReplacedFile::ReplacedFile(const std::string& path) : path_(path) {
  std::error_code error;
  const auto there = std::filesystem::status(path, error);
  if (std::filesystem::exists(there)) {
    if (!std::filesystem::is_regular_file(there)) refuse(path, "Not a regular file");
    path_ = std::filesystem::canonical(path, error).string();
    mode_ = static_cast<::mode_t>(there.permissions()) & 0777;
  }
  beside_ = path_ + ".XXXXXX";
  file_ = ::mkstemp(beside_.data());
  if (file_ < 0) refuse(path, std::strerror(errno));
}

ReplacedFile::~ReplacedFile() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(beside_.c_str());
}

void ReplacedFile::replace(std::string_view text) {
  bool written = ::fchmod(file_, mode_) == 0;
  while (written && !text.empty()) {
    const ::ssize_t done = ::write(file_, text.data(), text.size());
    if (done > 0) text.remove_prefix(static_cast<std::size_t>(done));
    written = done > 0 || (done < 0 && errno == EINTR);
  }
  if (!written || ::fsync(file_) != 0 || std::rename(beside_.c_str(), path_.c_str()) != 0)
    refuse(path_, std::strerror(errno));
  ::close(std::exchange(file_, -1));
}

}  // namespace ccl_tests
