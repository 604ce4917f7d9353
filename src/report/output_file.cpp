#include "src/report/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"

namespace ccl_tests {
namespace {

std::string reason(int error) { return std::generic_category().message(error); }

bool is_directory(const std::string& path) {
  struct stat status {};
  return ::stat(path.c_str(), &status) == 0 && S_ISDIR(status.st_mode);
}

// The error's number, 0 when all of `text` was written at offset `at`.
int write_at(int descriptor, std::string_view text, std::size_t at) {
  while (!text.empty()) {
    const ssize_t written = ::pwrite(descriptor, text.data(), text.size(), static_cast<off_t>(at));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return written < 0 ? errno : ENOSPC;
    text.remove_prefix(static_cast<std::size_t>(written));
    at += static_cast<std::size_t>(written);
  }
  return 0;
}

std::string read_at(int descriptor, std::size_t bytes, std::size_t at) {
  std::string text(bytes, '\0');
  const ssize_t got = ::pread(descriptor, text.data(), bytes, static_cast<off_t>(at));
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return text;
}

}  // namespace

OutputFile OutputFile::create(const std::string& path, std::string_view suffix) {
  const std::string stem = path.substr(0, path.size() - suffix.size());
  std::string name = path;
  for (int number = 0;; ++number) {
    const int descriptor = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (descriptor >= 0) return {descriptor, name};
    const int error = errno == EEXIST && is_directory(name) ? EISDIR : errno;
    if (error != EEXIST) {
      throw UsageError(fmt::format("cannot write results to {}: {}",
                                   quote(name, shown_path_characters), reason(error)));
    }
    name = fmt::format("{}.{}{}", stem, number, path.substr(stem.size()));
  }
}

OutputFile::OutputFile(int descriptor, std::string path)
    : descriptor_(descriptor), path_(std::move(path)) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      size_(other.size_) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::replace_end(std::size_t bytes, std::string_view text) {
  const std::size_t at = size_ - bytes;
  const std::string old = read_at(descriptor_, bytes, at);
  int error = write_at(descriptor_, text, at);
  if (error == 0 && text.size() < bytes &&
      ::ftruncate(descriptor_, static_cast<off_t>(at + text.size())) != 0) {
    error = errno;
  }
  if (error != 0) {
    restore(at, old);
    fail(error);
  }
  size_ = at + text.size();
}

void OutputFile::overwrite(std::size_t at, std::string_view text) {
  const std::string old = read_at(descriptor_, text.size(), at);
  const int error = write_at(descriptor_, text, at);
  if (error == 0) return;
  restore(at, old);
  fail(error);
}

void OutputFile::fail(int error) const {
  throw Error(fmt::format("cannot write results to {}: {}", quote(path_, shown_path_characters),
                          reason(error)));
}

void OutputFile::restore(std::size_t at, std::string_view old) noexcept {
  if (write_at(descriptor_, old, at) != 0) return;
  if (::ftruncate(descriptor_, static_cast<off_t>(size_)) != 0) return;
}

void OutputFile::close() {
  const int descriptor = std::exchange(descriptor_, -1);
  if (descriptor >= 0 && ::close(descriptor) != 0 && errno != EINTR) fail(errno);
}

}  // namespace ccl_tests
