// Files that are whole at any time: grown by appending, or replaced at once. Scratch folders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ccl_tests {

// The file that a name or a descriptor leads to. inode 0: not known.
struct FileIdentity {
  std::uint64_t device = 0, inode = 0;
};

// Returns the identity of an open regular file whose name is `path`. It is not known if the file
// system numbers the two otherwise, and of pipes and devices.
FileIdentity identity_of(int descriptor, const std::string& path);

// Returns whether an open file is the one of `identity`, or that is not known. Only system calls.
bool has_identity(int descriptor, FileIdentity identity);

// Returns why `path` does not lead to the open file any more: it was removed, renamed or replaced.
// Empty if it does, or if the descriptor is that of a pipe or a device.
std::string lost_name(int descriptor, const std::string& path, FileIdentity identity);

// Returns how to pipe results; empty: `path` is the name of neither a pipe nor a device, nor "-".
std::string piping_advice(const std::string& path);

// An unbuffered file. A write that fails throws Error and leaves the file as it was. So does one if
// the name does not lead to the file any more, or if another program has changed its length.
class OutputFile {
 public:
  // Never overwrites a file with results, unless it is a mount: .0, .1, ... goes before `suffix`
  // (which path ends with; empty: to the end) until the name is free, or of an empty file. Throws
  // UsageError.
  static OutputFile create(const std::string& path, std::string_view suffix);

  // Takes over an empty file, open for reading and writing.
  OutputFile(int descriptor, std::string path);
  OutputFile(OutputFile&& other) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;
  ~OutputFile();

  const std::string& path() const { return path_; }
  void append(std::string_view text) { replace(size_, 0, text); }
  // Replaces the file's last `bytes` bytes.
  void replace_end(std::size_t bytes, std::string_view text) {
    replace(size_ - bytes, bytes, text);
  }
  // Replaces the bytes from `at` on by `text`, which ends within the file.
  void overwrite(std::size_t at, std::string_view text) { replace(at, text.size(), text); }
  // Throws Error if the name does not lead to the file, or its length is not what was written.
  void check() const;
  // After check().
  void close();

  FileIdentity identity() const { return identity_; }
  std::size_t size() const { return size_; }

 private:
  // Replaces `bytes` bytes, the file's last ones unless `text` is as long.
  void replace(std::size_t at, std::size_t bytes, std::string_view text);
  [[noreturn]] void fail(const std::string& why) const;

  int descriptor_;
  std::string path_;
  FileIdentity identity_;
  std::size_t size_ = 0;
};

// Replaces a file that others read at any time: they see the old or the new one, whole. Follows
// links and keeps permissions; all may read a new file. Writes in place to a pipe, a device, a
// mount, and in a folder that takes no new file. Throws Error.
void replace_file(const std::string& path, std::string_view text);

// Writes a whole file in place, since it may be a mount. Returns why it cannot; empty: it did.
std::string write_over(const std::string& path, std::string_view text);

// A folder that is removed with its contents.
class ScratchFolder {
 public:
  // Makes a folder whose name begins with `name` in `parent`; empty: in TMPDIR. Throws Error, also
  // if path() would have more than `longest` bytes.
  explicit ScratchFolder(const std::string& name, std::string parent = {},
                         std::size_t longest = std::string::npos);
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const { return path_ + '/' + name; }

 private:
  std::string path_;
};

}  // namespace ccl_tests
