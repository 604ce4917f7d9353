#include "src/core/output_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include "src/core/error.hpp"
#include "src/core/quote.hpp"
#include "src/core/write_all.hpp"

namespace ccl_tests {
namespace {

std::string cannot_write(const std::string& path, const std::string& why) {
  return fmt::format("cannot write results to {}: {}", quote(path, shown_path_characters), why);
}

std::string reason(int error) { return std::generic_category().message(error); }

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

// nullopt: the descriptor is not that of a regular file.
std::optional<struct stat> regular_file(int descriptor) {
  struct stat status {};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return status;
}

bool is_same(const struct stat& status, FileIdentity identity) {
  return status.st_dev == identity.device && status.st_ino == identity.inode;
}

// Returns whether the file is mounted alone: its name cannot lead to another file.
bool is_mount(int descriptor) {
  struct statx found {};
  return ::statx(descriptor, "", AT_EMPTY_PATH, 0, &found) == 0 &&
         (found.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

// Returns a descriptor of a file that is new, empty or a mount, which no other run writes to.
// Returns -1 and sets errno if there is none; EEXIST: it holds results, or will.
int open_free(const std::string& name) {
  int file = ::open(name.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0 && errno == EEXIST) {
    file = ::open(name.c_str(), O_RDWR | O_CLOEXEC | O_NONBLOCK);
    if (file < 0 && errno != EISDIR) errno = EEXIST;
  }
  if (file < 0) return file;
  // Some network file systems have no locks.
  const bool taken = ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  const auto found = regular_file(file);
  const bool is_free = !taken && found && (found->st_size == 0 || is_mount(file));
  if (is_free && ::ftruncate(file, 0) == 0) return file;
  if (!is_free) errno = EEXIST;
  const int error = errno;
  ::close(file);
  errno = error;
  return -1;
}

// The name that the kernel has for an open file; empty: none.
std::string name_now(int descriptor) {
  std::array<char, 4096> name;
  const std::string link = fmt::format("/proc/self/fd/{}", descriptor);
  const ssize_t bytes = ::readlink(link.c_str(), name.data(), name.size());
  std::string text(name.data(), bytes > 0 ? static_cast<std::size_t>(bytes) : 0);
  return text.ends_with(" (deleted)") ? std::string() : text;
}

}  // namespace

FileIdentity identity_of(int descriptor, const std::string& path) {
  const auto open = regular_file(descriptor);
  struct stat named {};
  if (!open || ::stat(path.c_str(), &named) != 0) return {};
  const FileIdentity identity{open->st_dev, open->st_ino};
  return is_same(named, identity) ? identity : FileIdentity();
}

bool has_identity(int descriptor, FileIdentity identity) {
  struct stat status {};
  return identity.inode == 0 || (::fstat(descriptor, &status) == 0 && is_same(status, identity));
}

std::string lost_name(int descriptor, const std::string& path, FileIdentity identity) {
  const auto open = regular_file(descriptor);
  if (!open) return {};
  struct stat named {};
  const bool found = ::stat(path.c_str(), &named) == 0;
  const int error = errno;
  if (found && (identity.inode == 0 || is_same(named, identity))) return {};
  if (found)
    return "another file has taken its name while the run wrote to it; keep it until the run has "
           "ended";
  if (open->st_nlink == 0)
    return "the file was removed while the run wrote to it; keep it until the run has ended";
  const std::string name = name_now(descriptor);
  if ((error == ENOENT || error == ENOTDIR) && !name.empty())
    return fmt::format(
        "the file was renamed to {} while the run wrote to it; rename it when the "
        "run has ended",
        quote(name, shown_path_characters));
  return reason(error);
}

std::string piping_advice(const std::string& path) {
  struct stat status {};
  const bool special =
      ::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
  const std::string folder = path.substr(0, path.rfind('/') + 1);
  const bool descriptor = folder == "/dev/fd/" || folder == "/proc/self/fd/" ||
                          path == "/dev/stdout" || path == "/dev/stderr";
  if (!special && (!descriptor || S_ISDIR(status.st_mode)) && path != "-") return {};
  return "results go to regular files alone; to pipe them, write FILE.jsonl and run 'tail -F "
         "FILE.jsonl | jq .' beside";
}

OutputFile OutputFile::create(const std::string& path, std::string_view suffix) {
  if (const std::string advice = piping_advice(path); !advice.empty())
    throw UsageError(cannot_write(path, advice));
  const std::string stem = path.substr(0, path.size() - suffix.size());
  std::string name = path;
  for (int number = 0;; ++number) {
    const int descriptor = open_free(name);
    if (descriptor >= 0) return {descriptor, name};
    if (const int error = errno; error != EEXIST) {
      const std::string taken = fmt::format("; {} holds results: empty it, or name another file",
                                            quote(path, shown_path_characters));
      throw UsageError(cannot_write(name, reason(error) + (number > 0 ? taken : "")));
    }
    name = fmt::format("{}.{}{}", stem, number, path.substr(stem.size()));
  }
}

OutputFile::OutputFile(int descriptor, std::string path)
    : descriptor_(descriptor), path_(std::move(path)), identity_(identity_of(descriptor_, path_)) {}

OutputFile::OutputFile(OutputFile&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      path_(std::move(other.path_)),
      identity_(other.identity_),
      size_(other.size_) {}

OutputFile::~OutputFile() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void OutputFile::replace(std::size_t at, std::size_t bytes, std::string_view text) {
  check();
  const std::string old = read_at(descriptor_, bytes, at);
  const std::size_t end = size_ - bytes + text.size();
  int error = write_at(descriptor_, text, at);
  if (error == 0 && end < size_ && ::ftruncate(descriptor_, static_cast<off_t>(end)) != 0)
    error = errno;
  if (error == 0) {
    size_ = end;
    return;
  }
  [[maybe_unused]] const bool restored = write_at(descriptor_, old, at) == 0 &&
                                         ::ftruncate(descriptor_, static_cast<off_t>(size_)) == 0;
  fail(reason(error));
}

void OutputFile::check() const {
  if (descriptor_ < 0) return;
  if (const std::string lost = lost_name(descriptor_, path_, identity_); !lost.empty()) fail(lost);
  const auto open = regular_file(descriptor_);
  if (open && static_cast<std::size_t>(open->st_size) != size_)
    fail(fmt::format(
        "another program has changed its length from {} to {} B; keep it as it is until the "
        "run has ended",
        size_, open->st_size));
}

void OutputFile::fail(const std::string& why) const { throw Error(cannot_write(path_, why)); }

void OutputFile::close() {
  check();
  const int descriptor = std::exchange(descriptor_, -1);
  if (descriptor >= 0 && ::close(descriptor) != 0 && errno != EINTR) fail(reason(errno));
}

void replace_file(const std::string& path, std::string_view text) {
  const auto check = [&](const std::string& why) {
    if (!why.empty()) throw Error(cannot_write(path, why));
  };
  std::string target = path;
  ::mode_t mode = 0644;
  std::error_code error;
  const auto there = std::filesystem::status(path, error);
  if (std::filesystem::exists(there)) {
    if (!std::filesystem::is_regular_file(there)) return check(write_over(path, text));
    target = std::filesystem::canonical(path, error).string();
    mode = static_cast<::mode_t>(there.permissions()) & 0777;
  }
  std::string beside = target + ".XXXXXX";
  const int file = ::mkstemp(beside.data());
  if (file < 0) return check(write_over(target, text));  // the folder takes no new file
  const bool readable = ::fchmod(file, mode) == 0;
  int failed = write_all(file, text);
  if (failed == 0 && ::fsync(file) != 0) failed = errno;
  ::close(file);
  if (failed == 0 && readable && std::rename(beside.c_str(), target.c_str()) == 0) return;
  ::unlink(beside.c_str());
  check(failed != 0 ? reason(failed) : write_over(target, text));  // the file is a mount
}

std::string write_over(const std::string& path, std::string_view text) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (file < 0) return reason(errno);
  int failed = write_all(file, text);
  if (::close(file) != 0 && failed == 0) failed = errno;
  return failed == 0 ? std::string() : reason(failed);
}

ScratchFolder::ScratchFolder(const std::string& name, std::string parent, std::size_t longest) {
  std::string origin, advice;
  if (parent.empty()) {
    const char* const given = std::getenv("TMPDIR");
    const bool is_set = given != nullptr && *given != '\0';
    parent = is_set ? given : "/tmp";
    origin = is_set ? " (TMPDIR)" : "";
    advice = "; set TMPDIR to a folder that takes new files";
  }
  path_ = fmt::format("{}/{}XXXXXX", std::filesystem::absolute(parent).string(), name);
  if (path_.size() > longest)
    throw Error(fmt::format("the name of a folder in {} has more than {} bytes", parent, longest));
  if (::mkdtemp(path_.data()) != nullptr) return;
  const int failed = errno;
  throw Error(
      fmt::format("cannot make a folder in {}{}: {}{}", parent, origin, reason(failed), advice));
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace ccl_tests
